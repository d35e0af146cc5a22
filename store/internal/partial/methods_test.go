package partial

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// onDiskAlone lists the methods of earshot.Store that this package leaves to the disk,
// also for transient channels, each with the reason why that puts nothing there that
// people wrote, but for the length of a turn.
var onDiskAlone = map[string]string{
	"OpenConversation":   "ids",
	"CreateConversation": "what its creator says of a conversation, not what was said in it",
	"FindConversations":  "reads",
	"Conversation":       "reads",
	"MergeMetadata":      "what the agent notes of a conversation, not what was said",
	"AddReply":           "ids",
	"Manifest":           "reads",
	"Session":            "reads",
	"Turn":               "reads",
	"Turns":              "reads",

	"PutSummary":     "needs a claim, and ClaimSummary returns none",
	"ReleaseSummary": "a lease",
	"Summary":        "reads",

	"Events": "reads",
	"Resume": "reads",

	"Renew":       "a lease",
	"Release":     "a lease",
	"Merge":       "ids",
	"Reopen":      "ids",
	"Discard":     "ids, and what an operator gives as the reason",
	"QueuedTurn":  "reads",
	"QueuedTurns": "reads",
	"Depth":       "reads",
	"Steps":       "reads",
	"PutPost":     "what a running turn needs; it is removed when the turn has ended",
	"Posts":       "reads",
	"Confirm":     "ids",
	"Posted":      "reads",

	"AskApproval":    "what a running turn needs; it is removed when the turn has ended",
	"AwaitApprovals": "ids",
	"DecideApproval": "what a running turn needs, as the answer of a person is; only of one that has not ended",
	"NoteApproval":   "what a running turn needs; only of one that has not ended",
	"Approval":       "reads",
	"Approvals":      "reads",
	"StopTurn":       "ids",
	"RemoveFeedback": "removes",
	"Feedback":       "reads",

	"AddCalls":   "counts",
	"Calls":      "reads",
	"BookCalls":  "counts",
	"BlockCalls": "counts",
	"PruneRates": "removes",

	"Spend":       "counts",
	"Spent":       "reads",
	"PruneSpends": "removes",

	"PutNote":  "notes belong to no channel; whoever puts one drops it (a delivery to Slack's inbox: once the bot is known)",
	"Notes":    "reads",
	"DropNote": "removes",

	"NoteDraft": "of what AskDraft stored, which is nothing of a transient channel",

	"Claimed":    "reads",
	"OpenDrafts": "reads",
	"LastDraft":  "reads",

	"PlanErasure":  "reads",
	"BeginErasure": "ids; the memory follows erasures at the next claim",
	"StepErasure":  "removes",
	"Erasure":      "reads",
	"ErasureLog":   "reads",
}

// Store embeds the disk, so a method that is added to earshot.Store would reach the
// disk for transient channels too, unless somebody decides otherwise. Each method is
// either written in this package or listed above.
func TestEachMethodIsHandledOrLeftToTheDiskOnPurpose(t *testing.T) {
	t.Parallel()
	handled := methodsOfStore(t)
	api := reflect.TypeFor[earshot.Store]()
	for i := range api.NumMethod() {
		name := api.Method(i).Name
		switch _, listed := onDiskAlone[name]; {
		case listed && handled[name]:
			t.Errorf("%s is handled, and listed as left to the disk", name)
		case !listed && !handled[name]:
			t.Errorf("%s goes to the disk for transient channels too: handle it, or list it with the reason", name)
		}
	}
	for name := range onDiskAlone {
		if _, ok := api.MethodByName(name); !ok {
			t.Errorf("%s is listed, but earshot.Store has no such method", name)
		}
	}
}

// methodsOfStore returns the exported methods that this package declares on *Store.
func methodsOfStore(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || !f.Name.IsExported() {
				continue
			}
			if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				if of, ok := star.X.(*ast.Ident); ok && of.Name == "Store" {
					out[f.Name.Name] = true
				}
			}
		}
	}
	return out
}
