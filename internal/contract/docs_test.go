package contract

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestTheSpecificationNamesEveryField looks in docs/context.md for each name of
// the contract.
func TestTheSpecificationNamesEveryField(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/context.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	var look func(t *testing.T, typ reflect.Type)
	look = func(t *testing.T, typ reflect.Type) {
		for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
			typ = typ.Elem()
		}
		if typ.Kind() != reflect.Struct || typ.PkgPath() != reflect.TypeFor[Input]().PkgPath() {
			return
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fields++
			if s := string(page); !strings.Contains(s, `"`+name+`"`) && !strings.Contains(s, "`"+name+"`") {
				t.Errorf("docs/context.md does not name %q of %s", name, typ.Name())
			}
			look(t, f.Type)
		}
	}
	look(t, reflect.TypeFor[Input]())
	look(t, reflect.TypeFor[Result]())
	if fields < 80 {
		t.Errorf("only %d fields were looked at", fields)
	}
}
