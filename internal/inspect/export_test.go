package inspect

import "net/http"

// Patterns returns the pattern of every route, as the mux has it.
func Patterns() []string {
	var x patterns
	(&server{}).routes(&x)
	return x
}

type patterns []string

func (x *patterns) Handle(pattern string, _ http.Handler) { *x = append(*x, pattern) }

func (x *patterns) HandleFunc(pattern string, _ func(http.ResponseWriter, *http.Request)) {
	*x = append(*x, pattern)
}
