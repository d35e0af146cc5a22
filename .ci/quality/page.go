package main

import (
	"fmt"
	"os"
	"strings"
)

// A block is a part of a page that is made of figures: what stands between the
// lines "<!-- begin: NAME -->" and "<!-- end: NAME -->".
type block struct{ name, text string }

// replaceBlock returns the page with a block's text replaced.
func replaceBlock(page string, b block) (string, error) {
	begin, end := "<!-- begin: "+b.name+" -->\n", "<!-- end: "+b.name+" -->\n"
	head, rest, ok := strings.Cut(page, begin)
	if !ok {
		return "", fmt.Errorf("the page has no line %q", strings.TrimSpace(begin))
	}
	_, tail, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("the page has no line %q behind the one that begins it", strings.TrimSpace(end))
	}
	return head + begin + strings.TrimRight(b.text, "\n") + "\n" + end + tail, nil
}

// pages returns the blocks of each page.
func (f figures) pages() map[string][]block {
	return map[string][]block{
		pageFile: {
			{"figures", f.summary()}, {"retrieval", f.retrieval()}, {"ablation", code(f.Now.Ablation)}, {"speed", code(f.Now.Speed)},
			{"context", f.context()}, {"scenes", f.scenes()}, {"chatter", f.chatter()}, {"links", f.links()}, {"cost", f.cost()},
		},
		readmeFile: {{"headline", f.headline()}},
	}
}

// writePages writes the blocks into the pages.
func (f figures) writePages() error {
	for path, blocks := range f.pages() {
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page := string(raw)
		for _, b := range blocks {
			if page, err = replaceBlock(page, b); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}
