package discordapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"
	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// lost fails every request.
func lost(err error) server {
	return func(*http.Request) (*http.Response, error) { return nil, err }
}

// An endless body never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return copy(p, "[[[[[[[[[[[[[[[["), nil }
func (endless) Close() error               { return nil }

// A stuck body does not come.
type stuck struct{ ctx context.Context }

func (s stuck) Read([]byte) (int, error) {
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}
func (stuck) Close() error { return nil }

func TestWhatMayHaveBeenDoneIsNotRepeatedAndSaysSo(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		server server
	}{
		{"status 500", always(500, `{"message":"500: Internal Server Error","code":0}`)},
		{"status 502 with a page", always(502, `<html>bad gateway</html>`)},
		{"status 408", always(408, ``)},
		{"a redirect", always(302, ``, "Location", "https://elsewhere.test/"+token)},
		{"a reset", lost(&net.OpError{Op: "read", Err: syscall.ECONNRESET})},
		{"the end of the connection", lost(io.ErrUnexpectedEOF)},
		{"a page with 200", always(200, `<html>log in</html>`)},
		{"half an answer", always(200, `{"id":"1"`)},
		{"an answer without end", func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: endless{}}, nil
		}},
		{"an answer that does not come", func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: stuck{r.Context()}}, nil
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				client := server(func(r *http.Request) (*http.Response, error) {
					requests++
					return c.server(r)
				}).client()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := post(ctx, client, "11")
				if !errors.Is(err, discordapi.ErrNotAnswered) || discordapi.Undone(err) {
					t.Errorf("got %v, want ErrNotAnswered", err)
				}
				if requests != 1 {
					t.Errorf("%d requests were sent", requests)
				}
				if calls := client.Calls(); len(calls) != 1 || calls[0].Failed != 1 {
					t.Errorf("calls are %+v", calls)
				}
			})
		})
	}
}

func TestWhatWasCertainlyNotDoneSaysSo(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404, 405, 413, 499} {
		err := post(t.Context(), always(status, `{"message":"no","code":1}`).client(), "11")
		var api *discordapi.Error
		if !errors.As(err, &api) || api.Status != status || !discordapi.Undone(err) {
			t.Errorf("status %d returns %v", status, err)
		}
	}
	err := post(t.Context(), lost(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}).client(), "11")
	if !errors.Is(err, discordapi.ErrUnreachable) || !errors.Is(err, syscall.ECONNREFUSED) || !discordapi.Undone(err) {
		t.Errorf("a connection that was refused returns %v", err)
	}
	if discordapi.Undone(nil) || discordapi.Undone(errors.New("other")) {
		t.Error("what is known of an error that is not the client's?")
	}
}

func TestNoConnectionIsUnreachable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + l.Addr().String()
	_ = l.Close()
	c := discordapi.New(discordapi.Options{URL: at})
	if err := post(t.Context(), c, "11"); !errors.Is(err, discordapi.ErrUnreachable) || strings.Contains(err.Error(), at) {
		t.Errorf("got %v", err)
	}
}

func TestTheErrorsOfAFormAreFlattened(t *testing.T) {
	t.Parallel()
	body := `{"code":50035,"message":"Invalid Form Body","errors":{
		"content":{"_errors":[{"code":"BASE_TYPE_MAX_LENGTH","message":"Must be 2000 or fewer in length."}]},
		"embeds":{"0":{"title":{"_errors":[{"code":"BASE_TYPE_REQUIRED","message":"This field is required"},{"code":"OTHER","message":"see https://discord.com/x"}]}}},
		"_errors":[{"code":"WHOLE","message":"all of it"}],"odd":7,"odder":{"_errors":"x"}}}`
	err := post(t.Context(), always(400, body).client(), "11")
	var api *discordapi.Error
	if !errors.As(err, &api) {
		t.Fatal(err)
	}
	want := []string{
		"WHOLE: all of it",
		"content: BASE_TYPE_MAX_LENGTH: Must be 2000 or fewer in length.",
		"embeds.0.title: BASE_TYPE_REQUIRED: This field is required",
		"embeds.0.title: OTHER: see (URL)",
	}
	if d := cmp.Diff(api.Fields, want); d != "" {
		t.Error(d)
	}
	if !discordapi.IsRefused(err, discordapi.InvalidForm) || discordapi.IsRefused(err, discordapi.MissingAccess) {
		t.Error("Refused does not know the code")
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, 500) + `{"_errors":[{"code":"X","message":"y"}]}` + strings.Repeat(`}`, 500)
	many := `[` + strings.Repeat(`{"code":"X","message":"`+strings.Repeat("ä", 1000)+`"},`, 100) + `{}]`
	for _, errs := range []string{deep, `{"_errors":` + many + `}`} {
		err := post(t.Context(), always(400, `{"code":50035,"message":"`+strings.Repeat("long ", 1000)+`","errors":`+errs+`}`).client(), "11")
		if n := len(err.Error()); n > 8000 {
			t.Errorf("the error has %d bytes", n)
		}
	}
}

func TestNoErrorAndNoLogShowsTheTokenOrAURL(t *testing.T) {
	t.Parallel()
	const host = "discord.test"
	echo := `{"code":50035,"message":"no ` + token + ` https://` + host + `/x","errors":{"content":{"_errors":[{"code":"` + token + `","message":"` + token + `"}]},"` + token + `":{"_errors":[{"code":"a","message":"b"}]}}}`
	for _, s := range []server{
		always(400, echo), always(401, echo), always(403, echo), always(500, echo), always(200, token),
		always(429, `{"message":"`+token+`","retry_after":0}`, "X-RateLimit-Bucket", token),
		always(302, "", "Location", "https://"+host+"/"+token),
		lost(errors.New("proxy: " + token)),
		lost(&url.Error{Op: "Post", URL: "https://" + host + "/" + token, Err: errors.New("x")}),
		lost(&net.OpError{Op: "dial", Err: errors.New("with " + token)}),
	} {
		synctest.Test(t, func(t *testing.T) {
			var book logbook
			c := s.client(book.log)
			for range 4 {
				_, err := c.Call(t.Context(), rest.CreateMessage, []any{"11"}, url.Values{"q": {token}}, map[string]string{"content": "hello"})
				for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), book.String()} {
					if strings.Contains(text, token) || strings.Contains(text, host) {
						t.Errorf("shown: %s", text)
					}
				}
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	visited := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visited = true }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer s.Close()
	c := discordapi.New(discordapi.Options{URL: s.URL})
	if _, err := c.Call(t.Context(), rest.GetGatewayBot, nil, nil, nil); !errors.Is(err, discordapi.ErrNotAnswered) || visited {
		t.Errorf("got %v; the redirect was followed: %t", err, visited)
	}
}

func TestARequestIsAsDiscordWantsIt(t *testing.T) {
	t.Parallel()
	var got []string
	c := server(func(r *http.Request) (*http.Response, error) {
		var body []byte
		if r.Body != nil {
			body, _ = io.ReadAll(r.Body)
		}
		got = append(got, r.Method+" "+r.URL.String(), string(body), r.Header.Get("Authorization"), r.Header.Get("Content-Type"))
		if !strings.HasPrefix(r.Header.Get("User-Agent"), "DiscordBot (https://") {
			t.Errorf("the user agent is %q", r.Header.Get("User-Agent"))
		}
		return answer(204, ""), nil
	}).client(func(o *discordapi.Options) { o.URL += "/" })
	raw, err := c.Call(t.Context(), rest.CreateMessage, []any{"11"}, nil, discord.MessageCreate{
		Content: "hi", Nonce: "k1", EnforceNonce: true, AllowedMentions: &discord.AllowedMentions{Parse: []discord.AllowedMentionType{}},
	})
	if raw != nil || err != nil {
		t.Errorf("got %s and %v from an answer without content", raw, err)
	}
	_, err = c.Call(t.Context(), rest.AddReaction, []any{"11", 12, "🚫/../x?y"}, url.Values{"a": {"b&c"}}, nil)
	if err != nil {
		t.Error(err)
	}
	want := []string{
		"POST https://discord.test/api/channels/11/messages", `{"nonce":"k1","content":"hi","allowed_mentions":{"parse":[],"roles":null,"users":null,"replied_user":false},"enforce_nonce":true}`, "Bot " + token, "application/json",
		"PUT https://discord.test/api/channels/11/messages/12/reactions/%F0%9F%9A%AB%2F..%2Fx%3Fy/@me?a=b%26c", "", "Bot " + token, "",
	}
	if d := cmp.Diff(got, want); d != "" {
		t.Error(d)
	}
}

func TestParametersThatDoNotFillARouteAreRefused(t *testing.T) {
	t.Parallel()
	c := lost(errors.New("sent")).client()
	for _, params := range [][]any{nil, {"11"}, {"11", "12", "13"}, {"", "12"}, {"11", ".."}, {".", "12"}} {
		if _, err := c.Call(t.Context(), rest.GetMessage, params, nil, nil); err == nil || errors.Is(err, discordapi.ErrNotAnswered) {
			t.Errorf("%v: got %v", params, err)
		}
	}
	if c.Fits(rest.GetMessage, "11") {
		t.Error("a call fits that cannot be made")
	}
}

func TestAWebhookGetsNoToken(t *testing.T) {
	t.Parallel()
	var got string
	c := server(func(r *http.Request) (*http.Response, error) {
		got = r.Header.Get("Authorization")
		return answer(401, `{}`), nil
	}).client()
	_, err := c.Call(t.Context(), rest.GetWebhookWithToken, []any{"5", "secret"}, nil, nil)
	if got != "" || errors.Is(err, discordapi.ErrToken) {
		t.Errorf("Authorization is %q, the error %v", got, err)
	}
	if !c.Fits(rest.GetGatewayBot) {
		t.Error("a 401 for a call without the token stops those with it")
	}
}

func TestDiscordIsDownAfterSomeCallsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := sometimes(fine, broken, broken, broken, func() *http.Response { return answer(404, `{"code":10003}`) })
		c := s.client()
		var got []bool
		for range 5 {
			_ = post(t.Context(), c, "11") // Down tells what counts
			_, ok := c.Down()
			got = append(got, ok)
			time.Sleep(time.Second) // of the bubble's clock
		}
		if want := []bool{false, false, false, true, false}; !slices.Equal(got, want) {
			t.Errorf("down is %v, want %v", got, want)
		}
		start := time.Now()
		c = always(503, "").client()
		if _, ok := c.Down(); ok {
			t.Error("down before any call")
		}
		_ = post(t.Context(), c, "11") // it is not answered
		if since, ok := c.Down(); !ok || !since.Equal(start) {
			t.Errorf("the first call ever fails, and Down is %s, %t", since, ok)
		}
	})
}

func broken() *http.Response { return answer(503, "") }

func TestGatewayTellsWhereTheGatewayIs(t *testing.T) {
	t.Parallel()
	c := always(200, `{"url":"wss://gateway.test","shards":3,"session_start_limit":{"total":1000,"remaining":999,"reset_after":14400000,"max_concurrency":1}}`).client()
	got, err := c.Gateway(t.Context())
	want := discord.GatewayBot{URL: "wss://gateway.test", Shards: 3, SessionStartLimit: discord.SessionStartLimit{Total: 1000, Remaining: 999, ResetAfter: 14400000, MaxConcurrency: 1}}
	if err != nil || got != want {
		t.Errorf("got %+v and %v", got, err)
	}
	for _, body := range []string{`{}`, `{"url":7}`, ``} {
		if _, err := always(200, body).client().Gateway(t.Context()); !errors.Is(err, discordapi.ErrNotAnswered) {
			t.Errorf("%s: got %v", body, err)
		}
	}
}
