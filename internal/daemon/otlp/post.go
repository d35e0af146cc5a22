package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"
)

// A Header is a header of HTTP.
type Header struct{ Name, Value string }

// ParseHeaders reads the form of OTEL_EXPORTER_OTLP_HEADERS: key=value, divided by
// commas, the values percent-encoded. The error does not repeat what may be secret.
func ParseHeaders(s string) ([]Header, error) {
	var list []Header
	for n, pair := range strings.Split(s, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || name == "" || strings.ContainsFunc(name, notInName) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("header %d is not of the form name=value, with the value percent-encoded", n+1)
		}
		list = append(list, Header{name, value})
	}
	return list, nil
}

// notInName reports whether a header's name cannot have a character (RFC 9110, token).
func notInName(r rune) bool {
	return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// notNow is the error of a request that may succeed later, after a time if the collector
// names one.
type notNow struct {
	err   error
	after time.Duration
}

func (n notNow) Error() string { return n.err.Error() }
func (n notNow) Unwrap() error { return n.err }

// post sends a message. Which answers are worth another try is the protocol's to say.
func (e *Exporter) post(ctx context.Context, path string, m proto.Message) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	body, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	at, err := url.JoinPath(e.options.Endpoint, path)
	if err != nil {
		return errors.New("the endpoint is no URL")
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("make a request: %w", err)
	}
	for _, h := range e.options.Headers {
		r.Header.Set(h.Name, h.Value)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("User-Agent", "earshot/"+e.options.Version)
	w, err := e.client.Do(r)
	if err != nil {
		return notNow{err: err}
	}
	defer w.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(w.Body, 64<<10)) // so that the connection is used again
	switch w.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.Atoi(w.Header.Get("Retry-After")) // a date counts as none
		return notNow{fmt.Errorf("status %d", w.StatusCode), time.Duration(max(seconds, 0)) * time.Second}
	}
	if w.StatusCode/100 != 2 {
		return fmt.Errorf("status %d", w.StatusCode)
	}
	return nil
}

// String returns an attribute with a text. Bytes that are no UTF-8 are replaced: protobuf
// takes none.
func String(key, value string) *commonpb.KeyValue {
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.ToValidUTF8(value, "\uFFFD")}})
}

// Strings returns an attribute with a list of texts.
func Strings(key string, values ...string) *commonpb.KeyValue {
	list := &commonpb.ArrayValue{}
	for _, v := range values {
		list.Values = append(list.Values, String("", v).GetValue())
	}
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}})
}

// Int returns an attribute with a whole number.
func Int[T ~int | ~int64](key string, value T) *commonpb.KeyValue {
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(value)}})
}

// Float returns an attribute with a number.
func Float(key string, value float64) *commonpb.KeyValue {
	return attribute(key, &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: value}})
}

func attribute(key string, v *commonpb.AnyValue) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: v}
}
