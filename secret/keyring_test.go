package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/secret"
)

func key(b byte) secret.Secret {
	return secret.New(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, secret.KeyBytes)))
}

func ring(t *testing.T, now secret.Secret, old ...secret.Secret) *secret.Keyring {
	t.Helper()
	k, err := secret.NewKeyring(now, old...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestAKeyringOpensWhatItSealedAndNothingElse(t *testing.T) {
	t.Parallel()
	k := ring(t, key(1))
	sealed := k.Seal([]byte("xoxb-canary"), "T1")
	if bytes.Contains(sealed, []byte("canary")) || bytes.Contains(sealed, []byte("T1")) {
		t.Errorf("it shows what is sealed: %q", sealed)
	}
	if again := k.Seal([]byte("xoxb-canary"), "T1"); bytes.Equal(again, sealed) {
		t.Error("the same text is sealed to the same bytes")
	}
	if got, err := k.Open(sealed, "T1"); err != nil || string(got) != "xoxb-canary" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := k.Open(sealed, "T2"); !errors.Is(err, secret.ErrSealed) {
		t.Errorf("as another's: got %v, want ErrSealed", err)
	}
	if _, err := ring(t, key(2)).Open(sealed, "T1"); !errors.Is(err, secret.ErrNoKey) {
		t.Errorf("with another key: got %v, want ErrNoKey", err)
	}
	for i := range sealed {
		bad := bytes.Clone(sealed)
		bad[i] ^= 1
		if got, err := k.Open(bad, "T1"); err == nil {
			t.Fatalf("byte %d changed: got %q", i, got)
		}
		if got, err := k.Open(sealed[:i], "T1"); err == nil {
			t.Fatalf("cut at %d: got %q", i, got)
		}
	}
}

func TestAKeyringIsReplacedKeyByKey(t *testing.T) {
	t.Parallel()
	sealed := ring(t, key(1)).Seal([]byte("x"), "T1")
	k := ring(t, key(2), key(1))
	if got, err := k.Open(sealed, "T1"); err != nil || string(got) != "x" || k.Current(sealed) {
		t.Errorf("with the old key beside: got %q, %v, current %v", got, err, k.Current(sealed))
	}
	now := k.Seal([]byte("x"), "T1")
	if _, err := ring(t, key(2)).Open(now, "T1"); err != nil || !k.Current(now) {
		t.Errorf("sealed with the new key: got %v, current %v", err, k.Current(now))
	}
}

func TestAKeyOfAnotherFormIsRefusedWithTheRemedy(t *testing.T) {
	t.Parallel()
	raw := bytes.Repeat([]byte{0xfb}, secret.KeyBytes)
	for _, text := range []string{
		hex.EncodeToString(raw), strings.ToUpper(hex.EncodeToString(raw)), base64.StdEncoding.EncodeToString(raw),
		base64.RawStdEncoding.EncodeToString(raw), base64.URLEncoding.EncodeToString(raw), base64.RawURLEncoding.EncodeToString(raw),
	} {
		ring(t, secret.New(text))
	}
	for _, text := range []string{"", "password", hex.EncodeToString(raw[:31]), base64.StdEncoding.EncodeToString(append(raw, 1))} {
		_, err := secret.NewKeyring(secret.New(text))
		if err == nil || !strings.Contains(err.Error(), "openssl rand") || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: got %v, want the remedy without the key", text, err)
		}
	}
}
