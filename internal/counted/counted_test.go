package counted_test

import (
	"reflect"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
)

// A method that is added to earshot.Store and not to counted.Store would pass without
// being counted.
func TestEveryMethodOfAStoreIsCounted(t *testing.T) {
	t.Parallel()
	api := reflect.TypeFor[earshot.Store]()
	for i := range api.NumMethod() {
		name := api.Method(i).Name
		if name == "Close" {
			continue
		}
		st := counted.New(nil)
		func() {
			defer func() { _ = recover() }() // there is no store to pass the call on to
			f := reflect.ValueOf(st).MethodByName(name)
			args := make([]reflect.Value, f.Type().NumIn())
			for i := range args {
				args[i] = reflect.Zero(f.Type().In(i))
			}
			if f.Type().IsVariadic() {
				args = args[:len(args)-1]
			}
			f.Call(args)
		}()
		if calls, _ := st.Counts(); calls != 1 {
			t.Errorf("%s is counted %d times", name, calls)
		}
	}
}
