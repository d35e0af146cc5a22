package archive_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/store"
)

// Import a chat, see what became of each record, and export it again.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "archive")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	chat := filepath.Join(folder, "team.jsonl")
	err = os.WriteFile(chat, []byte(`{"conversation":"general","id":"1","ts":1700000001,"author":"alice","text":"Who has the keys?"}
{"conversation":"general","id":"2","ts":1700000002.5,"author":"bob","text":"I do.","reply_to":"1"}
{"conversation":"general","author":"carol","text":"This line has no id."}
`), 0o600)
	if err != nil {
		fmt.Println(err)
		return
	}
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer st.Close()

	report, err := archive.ImportJSONL(ctx, st, chat, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Messages.New, "new messages in", report.Channels, "channel")
	for _, skip := range report.Skipped {
		fmt.Println("skipped:", skip.Reason, "at line", skip.Places[0].Line)
	}
	again, err := archive.ImportJSONL(ctx, st, chat, nil)
	fmt.Println("a second time:", again.Messages.Unchanged, "unchanged", err)

	var out strings.Builder
	if err := archive.Export(ctx, st, &out, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(strings.SplitN(out.String(), "\n", 2)[0])
	// Output:
	// 2 new messages in 1 channel
	// skipped: no usable id at line 3
	// a second time: 2 unchanged <nil>
	// {"earshot":"export","version":1}
}
