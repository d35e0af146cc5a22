package media_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/media"
	"github.com/earshot-ai/earshot/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	token = "xoxb-canary-token"
	most  = 20 << 20
)

var (
	scope = earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	hosts = []string{"files.slack.com", "acme.slack.com"}

	// Where the platform is in the test's network, and where everybody else.
	platformAt  = netip.MustParseAddr("93.184.216.34")
	elsewhereAt = netip.MustParseAddr("93.184.216.35")
)

// certificate is the servers': handshakes with an elliptic key take little.
var certificate = func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}()

// An opener is a platform that has these files.
type opener map[earshot.ArtifactID]media.Source

func (o opener) OpenFile(_ context.Context, _ earshot.Scope, id earshot.ArtifactID) (media.Source, error) {
	s, ok := o[id]
	if !ok {
		return s, earshot.ErrNotFound
	}
	return s, nil
}

// at is a file of the platform at a URL.
func at(url string) opener {
	return opener{"F1": {URL: url, Hosts: hosts, Token: secret.New(token)}}
}

// holding is a platform that has the bytes of a file at hand.
func holding(data []byte) opener {
	return opener{"F1": {Content: io.NopCloser(bytes.NewReader(data))}}
}

// A world is a network with the platform's server and one that is everybody
// else's. Whatever connects to the latter is kept byte for byte.
type world struct {
	platform  *httptest.Server
	elsewhere *httptest.Server // TLS
	plain     *httptest.Server

	mu     sync.Mutex // guards what follows
	tokens int        // requests elsewhere that held the token
	asked  int        // requests elsewhere
	owed   int        // requests to the platform with the token
	dialed []string
	names  map[string][]netip.Addr // of other names
}

func newWorld(t *testing.T, platform http.HandlerFunc) *world {
	t.Helper()
	w := &world{names: map[string][]netip.Addr{}}
	spy := func(rw http.ResponseWriter, r *http.Request) {
		var all strings.Builder
		_ = r.Write(&all)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked++
		if strings.Contains(all.String(), "canary") {
			w.tokens++
		}
		_, _ = rw.Write(picture(t, 2, 2))
	}
	quiet := func(s *httptest.Server, secure bool) *httptest.Server {
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		if secure {
			s.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
			s.StartTLS()
		} else {
			s.Start()
		}
		t.Cleanup(s.Close)
		return s
	}
	w.platform = quiet(httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			w.mu.Lock()
			w.owed++
			w.mu.Unlock()
		}
		platform(rw, r)
	})), true)
	w.elsewhere = quiet(httptest.NewUnstartedServer(http.HandlerFunc(spy)), true)
	w.plain = quiet(httptest.NewUnstartedServer(http.HandlerFunc(spy)), false)
	return w
}

// open returns the files of a platform in this world.
func (w *world) open(o media.Opener, options *media.Options) *media.Files {
	x := media.New(o, options)
	x.Network(w.lookup, w.dial)
	return x
}

func (w *world) lookup(host string) []netip.Addr {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}
	}
	if host == "files.slack.com" || host == "acme.slack.com" {
		return []netip.Addr{platformAt}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if list, ok := w.names[host]; ok {
		return list
	}
	return []netip.Addr{elsewhereAt}
}

func (w *world) dial(ctx context.Context, address string) (net.Conn, error) {
	w.mu.Lock()
	w.dialed = append(w.dialed, address)
	w.mu.Unlock()
	to := w.elsewhere
	switch {
	case address == platformAt.String()+":443":
		to = w.platform
	case !strings.HasSuffix(address, ":443"):
		to = w.plain
	}
	return new(net.Dialer).DialContext(ctx, "tcp", to.Listener.Addr().String())
}

// load loads the file F1.
func load(ctx context.Context, x *media.Files) (string, error) {
	m, _, err := x.Load(ctx, scope, "m1", earshot.File{ID: "F1", Name: "plan.png", Type: "image/png"}, most)
	return m.Type, err
}

// reason returns why a file was not given; "" where err is not of a file.
func reason(err error) string {
	var e *media.Error
	if errors.As(err, &e) {
		return e.Reason()
	}
	return ""
}

// picture returns a PNG.
func picture(t testing.TB, w, h int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetNRGBA(x, y, color.NRGBA{uint8(x), uint8(y), uint8(x * y), 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
