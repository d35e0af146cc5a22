package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/zones"
)

// Redact returns an input of the same structure without its content, for reports
// that strangers read. The same input gives the same result, and in is not changed.
//
// People become Person A, B and so on, programs App A; ids become short ones that
// keep their order; files keep the extension of their name and their type where
// these are common. Each word becomes a word of invented letters with its length,
// its capitals and about its number of tokens. What the letters are depends on
// nothing else: if a word were always replaced by the same one, how often it occurs
// would betray it. Line breaks, punctuation, code fences and mentions stay, digits
// become 0, addresses lead to example.invalid. Times, numbers, sizes and counted
// tokens stay; a zone becomes one with its distance from UTC at the question.
//
// Every text is redacted unless a rule below keeps it, also those in fields that do
// not exist yet.
func Redact(in assemble.Input) assemble.Input {
	r := &redactor{words: nonsenseWords{counter: in.Counter, made: map[wordShape]string{}}}
	r.collect(in)
	counter := in.Counter
	in.Counter = nil
	out := reflect.New(reflect.TypeOf(in)).Elem()
	r.walk(out, reflect.ValueOf(in), "")
	redacted := out.Interface().(assemble.Input)
	redacted.Counter = counter
	redactSeen(in, redacted)
	return redacted
}

// seenForm is what [assemble.Seen] writes.
var seenForm = regexp.MustCompile(`^\d{1,9}(\.[tqfr][0-9a-f]{8})*$`)

// redactSeen writes into a redacted input what was shown of its messages: the hashes of
// what they say now are those of the redacted messages, and the others say nothing.
func redactSeen(in, redacted assemble.Input) {
	hashes := map[earshot.MessageID]map[string]string{}
	for i := range redacted.Messages {
		m := &in.Messages[i]
		was, is := strings.Split(assemble.Seen(m, 0), "."), strings.Split(assemble.Seen(&redacted.Messages[i], 0), ".")
		if hashes[m.ID] == nil {
			hashes[m.ID] = map[string]string{}
		}
		for j := range min(len(was), len(is)) {
			hashes[m.ID][was[j]] = is[j]
		}
	}
	for i := range redacted.Conversation.Shown {
		seen := in.Conversation.Shown[i].Seen
		if !seenForm.MatchString(seen) {
			continue
		}
		tokens := strings.Split(seen, ".")
		for j, token := range tokens[1:] {
			if tokens[j+1] = hashes[in.Conversation.Shown[i].ID][token]; tokens[j+1] == "" {
				tokens[j+1] = token[:1] + "00000000"
			}
		}
		redacted.Conversation.Shown[i].Seen = strings.Join(tokens, ".")
	}
}

// A redactor holds what the names and the ids of one input become.
type redactor struct {
	ids   [classes]labelMap
	words nonsenseWords
	at    earshot.Time // of the question
}

// The classes of names: what is the same in one of them stays the same.
const (
	messageIDs = iota
	authorIDs
	artifactIDs
	channelIDs
	workspaceIDs
	callIDs
	people
	programs
	systems
	files
	sums
	emoji
	places
	classes
)

// forms write the nth name of each class.
var forms = [classes]func(n int) string{
	messageIDs: numberNames("m%03d"), authorIDs: numberNames("U%d"), artifactIDs: numberNames("F%d"), channelIDs: numberNames("C%d"),
	workspaceIDs: numberNames("T%d"), callIDs: numberNames("call_%d"), files: numberNames("file-%d"), sums: numberNames("%064x"),
	emoji: numberNames("emoji_%d"), places: numberNames("place-%d"),
	people: letterNames("Person "), programs: letterNames("App "), systems: letterNames("System "),
}

func numberNames(format string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, n) }
}

// letterNames names A to Z, then AA, AB and so on.
func letterNames(before string) func(int) string {
	return func(n int) string {
		s := ""
		for ; n > 0; n = (n - 1) / 26 {
			s = string(rune('A'+(n-1)%26)) + s
		}
		return before + s
	}
}

// labelMap are the names of one class by what they stand for.
type labelMap map[string]string

// label returns the name of class that stands for s; "" for "".
func (r *redactor) label(class int, s string) string {
	if s == "" {
		return ""
	}
	if r.ids[class] == nil {
		r.ids[class] = labelMap{}
	}
	if _, ok := r.ids[class][s]; !ok {
		r.ids[class][s] = forms[class](len(r.ids[class]) + 1)
	}
	return r.ids[class][s]
}

// name returns what a person or a program is called instead. Whoever has the same
// name has the same one afterwards.
func (r *redactor) name(class int, s string) string {
	for _, c := range []int{people, programs, systems} {
		if known, ok := r.ids[c][s]; ok {
			return known
		}
	}
	return r.label(class, s)
}

// collect gives the ids their names in the order of the ids, because the id decides
// where times are equal, and the people theirs in the order in which they appear.
func (r *redactor) collect(in assemble.Input) {
	found := map[reflect.Type]map[string]bool{}
	eachString(reflect.ValueOf(in), func(v reflect.Value) {
		if found[v.Type()] == nil {
			found[v.Type()] = map[string]bool{}
		}
		found[v.Type()][v.String()] = true
	})
	for _, t := range slices.SortedFunc(maps.Keys(idClasses), func(a, b reflect.Type) int { return cmp.Compare(a.Name(), b.Name()) }) {
		for _, id := range slices.Sorted(maps.Keys(found[t])) {
			r.label(idClasses[t], id)
		}
	}
	r.name(programs, in.Identity.Name)
	for _, m := range in.Messages {
		if m.ID == in.Anchor {
			r.at = m.Time
		}
		r.author(m.Author)
	}
}

func (r *redactor) author(a earshot.Author) {
	class := people
	switch a.Kind {
	case earshot.Bot:
		class = programs
	case earshot.System:
		class = systems
	}
	r.name(class, a.Name)
	r.name(class, a.FullName)
}

// eachString calls f with every text in a value, keys of maps too.
func eachString(v reflect.Value, f func(reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		f(v)
	case reflect.Pointer:
		if !v.IsNil() {
			eachString(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Type.Kind() != reflect.Interface {
				eachString(v.Field(i), f)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			eachString(v.Index(i), f)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			eachString(k, f)
			eachString(v.MapIndex(k), f)
		}
	}
}

// walk writes the redacted form of a value; field is its name in its struct, with
// the struct's, such as Author.Name.
func (r *redactor) walk(to, from reflect.Value, field string) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(r.text(from, field))
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			r.walk(to.Elem(), from.Elem(), field)
		}
	case reflect.Struct:
		for i := range from.NumField() {
			r.walk(to.Field(i), from.Field(i), from.Type().Name()+"."+from.Type().Field(i).Name)
		}
	case reflect.Slice:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			r.walk(to.Index(i), from.Index(i), field)
		}
	case reflect.Map:
		if from.IsNil() {
			return
		}
		to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
		keys := from.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
		for _, k := range keys {
			key, value := reflect.New(k.Type()).Elem(), reflect.New(from.Type().Elem()).Elem()
			r.walk(key, k, field)
			r.walk(value, from.MapIndex(k), field)
			to.SetMapIndex(key, value)
		}
	case reflect.Interface, reflect.Func, reflect.Chan:
		// What it holds is not known; the Counter is put back by Redact.
	default:
		to.Set(from)
	}
}

// idClasses are the types of ids.
var idClasses = map[reflect.Type]int{
	reflect.TypeFor[earshot.MessageID](): messageIDs, reflect.TypeFor[earshot.AuthorID](): authorIDs, reflect.TypeFor[earshot.ArtifactID](): artifactIDs,
	reflect.TypeFor[earshot.ChannelID](): channelIDs, reflect.TypeFor[earshot.WorkspaceID](): workspaceIDs,
}

// fieldRules are the fields whose text is more than text.
var fieldRules = map[string]func(r *redactor, s string) string{
	"Author.Name": name, "Author.FullName": name, "Author.Team": name, "Identity.Name": name, "Named.Name": name, "Shared.Author": name,
	"Author.Zone": (*redactor).zone, "Input.Zone": (*redactor).zone, "Input.AskerZone": (*redactor).zone,
	"Channel.Name":     func(r *redactor, s string) string { return r.label(places, s) },
	"Shared.Place":     (*redactor).place,
	"File.Name":        (*redactor).file,
	"File.Type":        fileType,
	"File.SHA256":      sum,
	"Attached.SHA256":  sum,
	"Reaction.Name":    func(r *redactor, s string) string { return r.label(emoji, s) },
	"Reactor.Emoji":    func(r *redactor, s string) string { return r.label(emoji, s) },
	"EmojiAsker.Emoji": func(r *redactor, s string) string { return r.label(emoji, s) }, "EmojiAsker.Name": name, "MentionedPerson.Name": name, "MentionedPerson.FullName": name,
	"Reactor.Name": name, "ShownRevision.Seen": func(*redactor, string) string { return "" }, // see redactSeen
	"Call.ID":   func(r *redactor, s string) string { return r.label(callIDs, s) },
	"Call.Args": (*redactor).jsonOrText, "SessionEntry.Opaque": (*redactor).jsonOrText, "SessionEntry.Text": (*redactor).jsonOrText,
	"SessionEntry.Call": func(r *redactor, s string) string { return r.label(callIDs, s) },
	"Policy.Name":       func(_ *redactor, s string) string { return keptOr(policyNames(), s, "custom") },
	"Summary.By":        func(_ *redactor, s string) string { return keptOr([]string{earshot.ByDigest}, s, "model") },
	"Policy.Bots":       ours, "Call.Name": ours, "Recalled.Parts": ours,
}

func name(r *redactor, s string) string { return r.name(people, s) }
func sum(r *redactor, s string) string  { return r.label(sums, s) }

// ours keeps a word of the product.
func ours(r *redactor, s string) string {
	_, section := assemble.SectionName(s).Look()
	if section || earshot.Platform(s).Known() || slices.Contains(vocabulary, s) {
		return s
	}
	return r.prose(s)
}

func keptOr(kept []string, s, other string) string {
	if s == "" || slices.Contains(kept, s) {
		return s
	}
	return other
}

func policyNames() []string {
	var names []string
	for _, p := range assemble.Policies() {
		names = append(names, p.Name)
	}
	return names
}

// vocabulary are the product's own words besides platforms and sections, which say
// nothing of a chat: kinds, roles, states, forms, tools, and the parts of a search's
// score.
var vocabulary = strings.Fields(`human bot agent author system forward link app channel dm group known missing stale
	user assistant tool external guest full inert out text json brackets preamble tags plain log off auto
	channel_context channel_messages conversation_search
	words near time number recency phrase exact activity talk meaning id`)

// text redacts one text of the input.
func (r *redactor) text(v reflect.Value, field string) string {
	s := v.String()
	if class, ok := idClasses[v.Type()]; ok {
		return r.label(class, s)
	}
	if rule, ok := fieldRules[field]; ok {
		return rule(r, s)
	}
	if v.Type() != reflect.TypeFor[string]() {
		return ours(r, s) // a kind, a state, a section
	}
	return r.prose(s)
}

// zone returns a zone with the distance from UTC that another has at the question,
// in whole hours; UTC for one that is not known.
func (r *redactor) zone(name string) string {
	if name == "" || name == "UTC" {
		return name
	}
	l, err := zones.Load(name)
	if err != nil {
		return "UTC"
	}
	_, seconds := r.at.UTC().In(l).Zone()
	if hours := seconds / 3600; hours != 0 {
		return fmt.Sprintf("Etc/GMT%+d", -hours) // the sign is that of POSIX
	}
	return "UTC"
}

func (r *redactor) place(s string) string {
	channel, ok := strings.CutPrefix(s, "#")
	switch {
	case s == "":
		return ""
	case ok:
		return "#" + r.label(places, channel)
	}
	return invalidHost
}

// file returns the name of a file, with its extension where it is a common one.
func (r *redactor) file(s string) string {
	if s == "" {
		return ""
	}
	out := r.label(files, s)
	if i := strings.LastIndexByte(s, '.'); i >= 0 && slices.Contains(extensions, strings.ToLower(s[i+1:])) {
		out += strings.ToLower(s[i:])
	}
	return out
}

func fileType(_ *redactor, s string) string {
	return keptOr(mediaTypes, s, "application/octet-stream")
}

// Extensions and types so common that they say nothing.
var (
	extensions = strings.Fields("png jpg jpeg gif webp pdf txt md csv json log html xml yaml yml doc docx xls xlsx ppt pptx zip gz mp3 mp4 m4a wav ogg webm mov svg")
	mediaTypes = strings.Fields(`image/png image/jpeg image/gif image/webp image/svg+xml application/pdf text/plain text/markdown text/csv text/html
		application/json application/zip audio/mpeg audio/wav audio/ogg audio/mp4 video/mp4 video/webm application/octet-stream`)
)

// jsonOrText redacts what may be JSON, such as the answer of a tool: it stays JSON,
// with the keys that the product writes itself.
func (r *redactor) jsonOrText(s string) string {
	trimmed := strings.TrimSpace(s)
	if !strings.HasPrefix(trimmed, "{") && !strings.HasPrefix(trimmed, "[") || !json.Valid([]byte(s)) {
		return r.prose(s)
	}
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return r.prose(s)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(r.json(v)) != nil {
		return r.prose(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func (r *redactor) json(v any) any {
	switch v := v.(type) {
	case string:
		for _, class := range []int{messageIDs, authorIDs, artifactIDs, channelIDs, callIDs, people, programs, systems} {
			if known, ok := r.ids[class][v]; ok {
				return known
			}
		}
		return r.jsonOrText(v)
	case json.Number:
		return json.Number(strings.Map(replaceDigit, v.String()))
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.json(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			key := k
			if !slices.Contains(jsonKeys, k) {
				key = r.prose(k)
			}
			for _, taken := out[key]; taken; _, taken = out[key] {
				key += "_"
			}
			out[key] = r.json(v[k])
		}
		return out
	}
	return v
}

// replaceDigit replaces a digit of a JSON number, so that it stays one.
func replaceDigit(c rune) rune {
	if c >= '0' && c <= '9' {
		return '1'
	}
	return c
}

// jsonKeys are keys that the tools and the sessions write.
var jsonKeys = strings.Fields(`kind text media call result results opaque provider json id name type args parts failed data error hint
	intent limit messages message_id message author author_id role time ts thread thread_id reply_to content artifact_id files score channel
	window threads replies more total coverage why from to before after query`)
