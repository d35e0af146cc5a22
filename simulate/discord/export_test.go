package discord

// Routes returns the operations with their methods and paths, for tests that call all.
func Routes() [][3]string {
	var out [][3]string
	for _, r := range operations {
		out = append(out, [3]string{r.op, r.method, r.path})
	}
	return out
}
