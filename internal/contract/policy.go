package contract

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/assemble"
)

// DecodePolicy reads a policy object and checks it. The error is an
// [*assemble.InputError] with the first problem.
func DecodePolicy(data []byte) (assemble.Policy, error) {
	var w assemble.WrittenPolicy
	if err := json.Unmarshal(data, &w, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return assemble.Policy{}, inputError(err)
	}
	p, errs := w.Read()
	if len(errs) > 0 {
		at, reason, _ := strings.Cut(errs[0].Error(), ": ")
		return p, &assemble.InputError{Path: at, Reason: oneLine(reason)}
	}
	return p, nil
}

// policy reads a policy: a name, an object, or the default where it is absent.
func (r *reader) policy(v jsontext.Value) assemble.Policy {
	switch kind := v.Kind(); {
	case len(v) == 0 || kind == 'n':
		return assemble.Standard()
	case kind == '"':
		var name string
		if err := json.Unmarshal(v, &name, jsontext.AllowInvalidUTF8(true)); err == nil {
			if p, ok := assemble.ByName(name); ok {
				return p
			}
		}
		r.fail("policy", "unknown policy %q; use %s, or a policy object", name, strings.Join(policyNames(), ", "))
	case kind == '{':
		p, err := DecodePolicy(v)
		if err != nil {
			var in *assemble.InputError
			if errors.As(err, &in) {
				r.fail("policy."+in.Path, "%s", in.Reason)
			} else {
				r.fail("policy", "%v", err)
			}
		}
		return p
	default:
		r.fail("policy", "must be a name or an object")
	}
	return assemble.Policy{}
}

func policyNames() []string {
	var names []string
	for _, p := range assemble.Policies() {
		names = append(names, p.Name)
	}
	return names
}
