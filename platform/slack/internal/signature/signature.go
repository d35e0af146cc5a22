// Package signature checks that a request comes from Slack.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot/secret"
)

// maxSkew is how far Slack's clock, when it signed, and ours may be apart.
const maxSkew = 5 * time.Minute

// Valid reports whether one of the secrets signed the body at most five minutes
// from now: v0= and the hex of HMAC-SHA256 over v0:timestamp:body (docs.slack.dev,
// Verifying requests from Slack). body must be the bytes as they came. A signature
// takes the same time to check whatever is wrong with it.
func Valid(secrets []secret.Secret, h http.Header, body []byte, now time.Time) bool {
	stamps, signatures := h.Values("X-Slack-Request-Timestamp"), h.Values("X-Slack-Signature")
	if len(stamps) != 1 || len(signatures) != 1 {
		return false
	}
	seconds, err := strconv.ParseInt(stamps[0], 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamps[0] {
		return false
	}
	if d := now.Sub(time.Unix(seconds, 0)); d > maxSkew || d < -maxSkew {
		return false
	}
	ok := false
	for _, s := range secrets {
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write([]byte("v0:" + stamps[0] + ":"))
		mac.Write(body)
		want := "v0=" + hex.EncodeToString(mac.Sum(nil))
		ok = hmac.Equal([]byte(want), []byte(signatures[0])) || ok
	}
	return ok
}
