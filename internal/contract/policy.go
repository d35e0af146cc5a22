package contract

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/assemble"
)

// DecodePolicy reads a policy object and checks it.
func DecodePolicy(data []byte) (assemble.Policy, error) {
	var p assemble.Policy
	if err := json.Unmarshal(data, &p, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return p, inputError(err)
	}
	if errs := p.Check(); len(errs) > 0 {
		at, reason, _ := strings.Cut(errs[0].Error(), ": ")
		return p, &assemble.InputError{Path: at, Reason: oneLine(reason)}
	}
	return p, nil
}
