package secret

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
)

// KeyBytes is the length of a key of a [Keyring].
const KeyBytes = 32

// Errors of [Keyring.Open].
var (
	ErrNoKey  = errors.New("it was sealed with a key that is not here")
	ErrSealed = errors.New("what was sealed is damaged, or belongs elsewhere")
)

// A Keyring encrypts what is kept (AES-256-GCM), with the first of its keys, and opens
// what any of them has sealed, so that a key can be replaced. It is safe for concurrent
// use.
type Keyring struct {
	keys []sealingKey
}

// A sealingKey is a key with its id, from which the key cannot be computed.
type sealingKey struct {
	id   []byte
	aead cipher.AEAD
}

// What is sealed begins with a version, the id of the key and a nonce.
const (
	sealedVersion = 1
	keyIDBytes    = 8
)

// NewKeyring returns a keyring that seals with now and opens what was sealed with it or
// one of old. Each is [KeyBytes] bytes, in base64 or in hexadecimal digits. The error says
// how a key is made, and shows none.
func NewKeyring(now Secret, old ...Secret) (*Keyring, error) {
	k := &Keyring{}
	for _, s := range append([]Secret{now}, old...) {
		key, ok := decodeKey(s.Reveal())
		if !ok {
			return nil, fmt.Errorf("it is not %d random bytes in base64 or hexadecimal digits: make one with `openssl rand -base64 %d`", KeyBytes, KeyBytes)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("earshot: which key it is"))
		k.keys = append(k.keys, sealingKey{mac.Sum(nil)[:keyIDBytes], aead})
	}
	return k, nil
}

// decodeKey reads the text of a key.
func decodeKey(text string) (key []byte, ok bool) {
	for _, decode := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString, base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if key, err := decode(text); err == nil && len(key) == KeyBytes {
			return key, true
		}
	}
	return nil, false
}

// Seal encrypts plain. Only who names the same about opens it: it says what plain belongs
// to, and is not in what is returned.
func (k *Keyring) Seal(plain []byte, about string) []byte {
	key := k.keys[0]
	out := append([]byte{sealedVersion}, key.id...)
	nonce := make([]byte, key.aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails
	out = append(out, nonce...)
	return key.aead.Seal(out, nonce, plain, []byte(about))
}

// Open returns what Seal was given with the same about. The error is [ErrNoKey] or
// [ErrSealed].
func (k *Keyring) Open(sealed []byte, about string) ([]byte, error) {
	if len(sealed) < 1+keyIDBytes || sealed[0] != sealedVersion {
		return nil, ErrSealed
	}
	id, rest := sealed[1:1+keyIDBytes], sealed[1+keyIDBytes:]
	for _, key := range k.keys {
		if !bytes.Equal(id, key.id) {
			continue
		}
		n := key.aead.NonceSize()
		if len(rest) < n {
			return nil, ErrSealed
		}
		plain, err := key.aead.Open(nil, rest[:n], rest[n:], []byte(about))
		if err != nil {
			return nil, ErrSealed
		}
		return plain, nil
	}
	return nil, ErrNoKey
}

// Current reports whether something was sealed with the key that seals now.
func (k *Keyring) Current(sealed []byte) bool {
	return len(sealed) > keyIDBytes && bytes.Equal(sealed[1:1+keyIDBytes], k.keys[0].id)
}
