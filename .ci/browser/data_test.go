package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// An object is one line of JSON.
type object = map[string]any

// An export writes lines as `earshot export` does.
type export struct {
	t    *testing.T
	path string
	file *os.File
	out  *bufio.Writer
	enc  *json.Encoder
	at   time.Time
}

// began is when what is imported was said.
var began = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func newExport(t *testing.T) *export {
	t.Helper()
	x := &export{t: t, path: filepath.Join(t.TempDir(), "import.jsonl"), at: began}
	var err error
	if x.file, err = os.Create(x.path); err != nil {
		t.Fatal(err)
	}
	x.out = bufio.NewWriter(x.file)
	x.enc = json.NewEncoder(x.out)
	x.line(object{"earshot": "export", "version": 1})
	return x
}

func (x *export) line(o object) {
	x.t.Helper()
	if _, ok := o["type"]; ok {
		o["platform"], o["workspace"] = "local", "local"
	}
	if err := x.enc.Encode(o); err != nil {
		x.t.Fatal(err)
	}
}

func (x *export) channel(id, name, topic string) {
	x.t.Helper()
	x.line(object{"type": "channel", "id": id, "name": name, "kind": "channel", "topic": topic, "purpose": topic})
}

// message writes a message half a minute after the one before.
func (x *export) message(channel, id string, author object, text string, more object) {
	x.t.Helper()
	x.at = x.at.Add(30 * time.Second)
	o := object{"type": "message", "channel": channel, "id": id, "time": x.at.Format(time.RFC3339Nano), "author": author, "text": text}
	for k, v := range more {
		o[k] = v
	}
	x.line(o)
}

// done ends the export and imports it into a new database.
func (x *export) done() (db string) {
	x.t.Helper()
	if err := x.out.Flush(); err != nil {
		x.t.Fatal(err)
	}
	if err := x.file.Close(); err != nil {
		x.t.Fatal(err)
	}
	db = filepath.Join(x.t.TempDir(), "earshot.db")
	command(x.t, "import", "jsonl", "--db", db, x.path)
	return db
}

func person(id, name string) object {
	return object{"id": id, "name": name, "full_name": name, "kind": "human"}
}

// naughtyStore is a store in which every string that people or platforms choose is
// naughty, each list of its own; it returns the ids of its channels.
func naughtyStore(t *testing.T) (db string, channels []string) {
	t.Helper()
	x := newExport(t)
	n := len(naughty)
	pick := func(i int) string { return naughty[(i%n+n)%n] }
	// Names, topics, ids of channels.
	channels = []string{"room"}
	x.channel("room", "room", "everything naughty that was ever said")
	for i, s := range naughty {
		if i%3 == 0 { // some ids too; they are opaque, and local ids have no form of their own
			id := cut(strconv.Itoa(i)+s, 200)
			channels = append(channels, id)
			x.channel(id, cut(s, 200), cut(pick(i+1), 1000))
		}
	}
	for i, s := range naughty {
		x.line(object{"type": "author", "id": cut("p"+strconv.Itoa(i)+s, 200), "name": cut(s, 200), "full_name": cut(pick(i+1), 200), "kind": "human"})
	}
	author := func(i int) object {
		i = (i%n + n) % n
		return object{"id": cut("p"+strconv.Itoa(i)+naughty[i], 200), "name": cut(naughty[i], 200), "full_name": cut(pick(i+1), 200), "kind": "human"}
	}
	for i := range 6 {
		x.line(object{
			"type": "coverage", "channel": "room", "state": []string{"known", "missing", "stale"}[i%3], "why": cut(pick(12+i), 200),
			"from": began.Add(time.Duration(i) * time.Hour).Format(time.RFC3339), "to": began.Add(time.Duration(i+1) * time.Hour).Format(time.RFC3339),
		})
	}
	for i, s := range texts(t) {
		id := fmt.Sprintf("m%d", i)
		more := object{}
		switch i % 6 {
		case 1:
			more["files"] = []object{{"id": "f" + id, "name": cut(pick(i), 200), "type": cut(pick(i+2), 100), "size": 17}}
		case 2:
			more["reactions"] = []object{{"name": cut(pick(i), 100), "count": 3}}
		case 3:
			more["shared"] = []object{
				{"kind": "forward", "author": cut(pick(i), 200), "place": cut(pick(i+1), 200), "text": pick(i + 2)},
				{"kind": "link", "place": cut(pick(i+3), 200), "text": pick(i + 4)},
			}
		case 4:
			more["thread"] = fmt.Sprintf("m%d", i-1)
		case 5:
			more["edited"] = x.at.Add(time.Hour).Format(time.RFC3339)
			more["revisions"] = []object{{"author": author(i), "text": pick(i + 5)}}
		}
		if i%7 == 0 {
			id = cut(id+s, 300) // ids of messages are opaque too
		}
		x.message("room", id, author(i), s, more)
	}
	for i, c := range channels[1:] {
		x.message(c, cut("first"+pick(i), 300), author(i), pick(i+7), nil)
	}
	return x.done(), channels
}

// wideStore is a store with one channel of so many messages.
func wideStore(t *testing.T, messages int) (db string) {
	t.Helper()
	x := newExport(t)
	x.channel("big", "big", "a channel with a long history")
	who := []object{person("ana", "Ana"), person("bo", "Bo"), person("chi", "Chi")}
	for i := range messages {
		x.message("big", fmt.Sprintf("m%06d", i), who[i%len(who)], fmt.Sprintf("message %d of many: the deploy of part %d went out, and nothing broke", i, i%97), nil)
	}
	return x.done()
}
