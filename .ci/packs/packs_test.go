package main

import "testing"

func TestAVersionAsPythonSpellsIt(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]string{
		"0.1.0": "0.1.0", "1.0.0-rc.1": "1.0.0rc1", "1.0.0-rc2": "1.0.0rc2", "1.0.0-alpha.3": "1.0.0a3", "1.0.0-beta.12": "1.0.0b12",
		"v1.0.0": "", "1.0": "", "1.0.0-next.1": "", "1.0.0+build": "", "": "",
	} {
		if got, err := pep440(version); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", version, got, err, want)
		}
	}
}
