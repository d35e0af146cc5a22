package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

// At the desk a channel is encoded before it is searched; with an encoder that is away the
// search goes by words, and says so.
func TestTheDeskSearchesByMeaning(t *testing.T) {
	t.Parallel()
	encoder := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			t.Error(err)
		}
		var data []map[string]any
		for i, text := range asked.Input {
			vector := []int{0, 1}
			if strings.Contains(text, "hungry") || strings.Contains(text, "canteen opens") {
				vector = []int{1, 0}
			}
			data = append(data, map[string]any{"index": i, "embedding": vector})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(encoder.Close)
	db := filepath.Join(t.TempDir(), "x.db")
	search := func(url string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := ran(t, []string{"EARSHOT_DB=" + db, "EARSHOT_EMBEDDINGS_URL=" + url, "EARSHOT_EMBEDDINGS_MODEL=m"}, "search", "kitchen", "I am hungry, and now?")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
		return stdout, stderr
	}
	if code, _, stderr := ran(t, []string{"EARSHOT_DB=" + db}, "import", "jsonl", "testdata/meaning.jsonl"); code != 0 {
		t.Fatal(stderr)
	}
	away := httptest.NewServer(http.NotFoundHandler())
	away.Close()
	if stdout, stderr := search(away.URL); strings.Contains(stdout, "canteen") || !strings.Contains(stderr, "search goes by words alone") {
		t.Errorf("without the encoder: %s%s", stdout, stderr)
	}
	if stdout, stderr := search(encoder.URL); !strings.Contains(stdout, "The canteen opens") || !strings.Contains(stdout, "meaning") {
		t.Errorf("with the encoder: %s%s", stdout, stderr)
	}
}
