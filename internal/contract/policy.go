package contract

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/assemble"
)

// DecodePolicy reads a policy object and checks it.
func DecodePolicy(data []byte) (assemble.Policy, error) {
	var w assemble.WrittenPolicy
	if err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return assemble.Policy{}, inputError(err)
	}
	p := w.Read()
	if errs := p.Check(); len(errs) > 0 {
		at, reason, _ := strings.Cut(errs[0].Error(), ": ")
		return p, &assemble.InputError{Path: at, Reason: oneLine(reason)}
	}
	return p, nil
}
