package bot

import (
	"context"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
)

// links are the addresses that may stay live in a reply.
type links struct {
	exact map[string]bool
	hosts []string            // allow-listed, lower case
	more  []earshot.MessageID // messages whose addresses may too; read where there is something to decide
}

// known returns the addresses that this turn's people have written: those in
// the messages that the prompt shows, but for the agent's own, and the
// operator's; those that it has shown are to be read, and those of which tools
// have told in the turns before.
func (t *turn) known() links {
	l := links{exact: map[string]bool{}}
	for _, h := range t.Links {
		l.hosts = append(l.hosts, strings.ToLower(h))
	}
	l.add(t.Instructions)
	seen := map[earshot.MessageID]bool{}
	for _, row := range t.result.Ledger {
		seen[row.ID] = row.Verdict != earshot.Out
	}
	for _, m := range t.input.Messages {
		if seen[m.ID] && !t.Identity.Is(m.Author.ID) {
			l.add(m.Text)
		}
	}
	for _, s := range t.input.Conversation.Shown {
		l.more = append(l.more, s.ID)
	}
	for _, e := range t.input.Conversation.Session {
		if e.Role == earshot.ToolRole {
			l.more = append(l.more, idsIn(e.Text)...)
		}
	}
	return l
}

// guarded returns a whole reply as it may be posted.
func (t *turn) guarded(ctx context.Context, text string) (string, error) {
	if len(t.links.more) > 0 && (len(addresses(text)) > 0 || strings.Contains(text, "](") || strings.Contains(text, "<")) {
		list, err := t.Store.ByID(ctx, t.lease.Conversation.Scope, t.links.more...)
		if err != nil {
			return "", err
		}
		for _, m := range list {
			if !m.Deleted && !t.Identity.Is(m.Author.ID) {
				t.links.add(m.Text)
			}
		}
		t.links.more = nil
	}
	return guard(text, t.links), nil
}

// add allows the addresses in a text.
func (l links) add(text string) {
	for _, at := range addresses(text) {
		l.exact[text[at[0]:at[1]]] = true
	}
}

// live reports whether an address may stay as it is.
func (l links) live(address string) bool {
	if l.exact[address] {
		return true
	}
	for i := 0; i < len(address); i++ {
		if c := address[i]; c <= ' ' || c >= 0x7F || c == '\\' || c == '|' {
			return false
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range l.hosts {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}
