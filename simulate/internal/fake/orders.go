package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Obey carries out the order of a script, the JSON body of POST URL/simulate/{act}, on
// a fake, and returns the answer. byName puts ids where the order has names. A page in a
// browser must not be able to order anything: it cannot send this content type
// elsewhere, nor reach a loopback name.
func Obey[Fake, Order any](s Fake, w http.ResponseWriter, h *http.Request, acts map[string]func(Fake, *http.Request, Order) (any, error), byName func(*Order) error) (any, error) {
	act, ok := acts[h.PathValue("act")]
	if !ok {
		return nil, fmt.Errorf("there is no act %q; there are %s", h.PathValue("act"), strings.Join(slices.Sorted(maps.Keys(acts)), ", "))
	}
	if !local(h) || !strings.HasPrefix(h.Header.Get("Content-Type"), "application/json") {
		return nil, errors.New("orders are application/json, sent to a loopback address")
	}
	var o Order
	d := json.NewDecoder(http.MaxBytesReader(w, h.Body, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(&o); err != nil && !errors.Is(err, io.EOF) { // an act that takes nothing may be given none
		return nil, fmt.Errorf("the order is not understood: %w", err)
	}
	if err := byName(&o); err != nil {
		return nil, err
	}
	return act(s, h, o)
}

// MayLook returns an error where who asks what there is did not ask a loopback name.
func MayLook(h *http.Request) error {
	if !local(h) {
		return errors.New("this is for loopback addresses")
	}
	return nil
}

// local reports whether a request was sent to a loopback name.
func local(h *http.Request) bool {
	host, _, err := net.SplitHostPort(h.Host)
	if err != nil {
		host = h.Host
	}
	ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// ID returns the id of the one in list that has a name, and name itself where none
// has. sign is what may stand before a name, such as @. Where several have the name and
// none has it as its id, the error lists their ids; field is where one can be given.
func ID[T any](list []T, field, sign, name string, of func(T) (id, name string)) (string, error) {
	bare := strings.TrimPrefix(name, sign)
	var found []string
	for _, v := range list {
		id, own := of(v)
		if id == name {
			return id, nil
		}
		if own != "" && own == bare {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return name, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%q is the name of %d: %s; give one of these ids as %q", bare, len(found), strings.Join(found, ", "), field)
}
