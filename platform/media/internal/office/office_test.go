package office_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/media/internal/office"
)

// archive packs files, given as names and contents in turn.
func archive(t testing.TB, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// rels is a file of relations, given as ids, types and targets in turn.
func rels(list ...string) string {
	s := `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`
	for i := 0; i < len(list); i += 3 {
		mode := ""
		if strings.Contains(list[i+2], "://") {
			mode = ` TargetMode="External"`
		}
		s += fmt.Sprintf(`<Relationship Id="%s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/%s" Target="%s"%s/>`, list[i], list[i+1], list[i+2], mode)
	}
	return s + `</Relationships>`
}

const names = ` xmlns:w="urn:w" xmlns:a="urn:a" xmlns:p="urn:p" xmlns:r="urn:r" xmlns:mc="urn:mc" xmlns:office="urn:o" xmlns:table="urn:t" xmlns:text="urn:x"`

// docx is a text document with a body and further files.
func docx(t testing.TB, body string, more ...string) []byte {
	return archive(t, append([]string{
		"_rels/.rels", rels("rId1", "officeDocument", "word/document.xml"),
		"word/document.xml", `<w:document` + names + `><w:body>` + body + `</w:body></w:document>`,
	}, more...)...)
}

// xlsx is a workbook with one sheet.
func xlsx(t testing.TB, rows string, more ...string) []byte {
	return archive(t, append([]string{
		"_rels/.rels", rels("rId1", "officeDocument", "/xl/workbook.xml"),
		"xl/workbook.xml", `<workbook` + names + `><sheets><sheet name="S" sheetId="1" r:id="rId1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", rels("rId1", "worksheet", "worksheets/sheet1.xml", "rId2", "sharedStrings", "sharedStrings.xml", "rId3", "styles", "styles.xml"),
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>` + rows + `</sheetData></worksheet>`,
	}, more...)...)
}

// ods is a spreadsheet with one table.
func ods(t testing.TB, rows string, more ...string) []byte {
	return archive(t, append([]string{
		"mimetype", "application/vnd.oasis.opendocument.spreadsheet",
		"content.xml", `<office:document-content` + names + `><office:body><office:spreadsheet><table:table table:name="T">` + rows + `</table:table></office:spreadsheet></office:body></office:document-content>`,
	}, more...)...)
}

func odt(t testing.TB, text string, more ...string) []byte {
	return archive(t, append([]string{
		"mimetype", "application/vnd.oasis.opendocument.text",
		"content.xml", `<office:document-content` + names + `><office:body><office:text>` + text + `</office:text></office:body></office:document-content>`,
	}, more...)...)
}

// deck is a presentation: its slides stand in another order than their files, the first
// has notes, a group, a footer and a fallback, the second is hidden and has a table.
func deck(t testing.TB) []byte {
	shape := func(kind, text string) string {
		return `<p:sp><p:nvSpPr><p:nvPr><p:ph type="` + kind + `"/></p:nvPr></p:nvSpPr><p:txBody>` + text + `</p:txBody></p:sp>`
	}
	return archive(t,
		"_rels/.rels", rels("rId1", "officeDocument", "ppt/presentation.xml"),
		"ppt/presentation.xml", `<p:presentation`+names+`><p:sldIdLst><p:sldId id="256" r:id="rId9"/><p:sldId id="257" r:id="rId8"/></p:sldIdLst></p:presentation>`,
		"ppt/_rels/presentation.xml.rels", rels("rId8", "slide", "slides/slide1.xml", "rId9", "slide", "slides/slide2.xml"),
		"ppt/slides/slide1.xml", `<p:sld`+names+` show="0"><a:tbl><a:tr><a:tc><a:p><a:r><a:t>EU</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>41</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:sld>`,
		"ppt/slides/slide2.xml", `<p:sld`+names+`><p:grpSp>`+shape("body", `<a:p><a:r><a:t>fir</a:t></a:r><a:r><a:t>st</a:t></a:r></a:p><a:p><a:pPr lvl="1"/><a:r><a:t>second</a:t></a:r></a:p>`)+`</p:grpSp>`+
			shape("title", `<a:p><a:r><a:t>Quarter</a:t></a:r><a:br/><a:r><a:t>3</a:t></a:r></a:p>`)+shape("ftr", `<a:p><a:r><a:t>confidential</a:t></a:r></a:p>`)+
			`<mc:AlternateContent><mc:Choice/><mc:Fallback>`+shape("body", `<a:p><a:r><a:t>again</a:t></a:r></a:p>`)+`</mc:Fallback></mc:AlternateContent></p:sld>`,
		"ppt/slides/_rels/slide2.xml.rels", rels("rId1", "notesSlide", "../notesSlides/notesSlide1.xml"),
		"ppt/notesSlides/notesSlide1.xml", `<p:notes`+names+`>`+shape("sldNum", `<a:p><a:r><a:t>7</a:t></a:r></a:p>`)+shape("body", `<a:p><a:r><a:t>say hello first</a:t></a:r></a:p>`)+`</p:notes>`)
}

func TestWhatADocumentSays(t *testing.T) {
	t.Parallel()
	real := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	cell := func(ref, attributes, inner string) string {
		return `<c r="` + ref + `"` + attributes + `>` + inner + `</c>`
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"a workbook of Excel", real("sales.xlsx"), `sheet: Sales
region | month | sales | share | open | total
EU | 2026-03-02 | 41.5 | 15 % | TRUE | =SUM(C2:C3)
US | 2026-03-02 09:02 | 0.3 |  | FALSE
 | 09:05 |  |  | two lines
 |  | 30:00:00
row 0
row 1
row 2
row 3
[the first 9 rows; there are more]
sheet: Secret (hidden)
 | x
sheet: Nothing
[empty]
`},
		{"a text document of Word", real("runbook.docx"), `header: ACME internal
# Runbook
## Restart
Restart import-2 first.[note 1] Added words.
- one
  - two
- three
the graph <https://example.com/graph?a=1&b=2>
host | disk
db1 | 3 %
the end
[note 1] measured on Monday
`},
		{"a presentation of PowerPoint, in the order of its slides", deck(t), `slide 1: Quarter 3
- first
  - second
notes: say hello first
slide 2 (hidden)
EU | 41
`},
		{"a spreadsheet of OpenDocument, whose rows and cells are repeated", real("lager.ods"), `sheet: Lager
Teil | Anzahl | seit | da
Schraube | 1.200 | 2026-03-02 | TRUE
Ende | Ende | Ende | =SUM([.B2])
Ende | Ende | Ende | =SUM([.B2])
`},
		{"a text document of OpenDocument", real("plan.odt"), `header: ACME intern
## Plan
Read this page <https://example.com/x>[note 1] today.
- one
  - deeper
host | disk
db1 | 3 %
[note 1] it moved
`},
		{"a presentation of OpenDocument", real("why.odp"), `slide 1: Why
- first
- second
notes: say hello
slide 2: How
- third
`},
		{"cells of every kind, with the values that formulas had", xlsx(t,
			`<row>`+cell("A1", ` t="s"`, `<v>1</v>`)+cell("C1", ` t="inlineStr"`, `<is><r><t>in</t></r><r><t>line</t></r><rPh><t>spoken</t></rPh></is>`)+cell("D1", ` t="str"`, `<f>A1&amp;"x"</f><v>text</v>`)+
				cell("E1", ` t="e"`, `<v>#N/A</v>`)+cell("F1", ` t="b"`, `<v>1</v>`)+cell("G1", "", `<f>1/3</f><v>0.33333333333333331</v>`)+cell("H1", ` s="1"`, `<v>45000.5</v>`)+cell("I1", ` s="9"`, `<v>1E+20</v>`)+
				`<c t="d"><v>2026-03-02</v></c></row><row/><row>`+cell("B3", ` t="s"`, `<v>0</v>`)+cell("C3", ` t="s"`, `<v>7</v>`)+`</row>`,
			"xl/sharedStrings.xml", `<sst><si><t>zero</t></si><si><r><t>o</t></r><r><t xml:space="preserve">ne </t></r></si></sst>`,
			"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="[$-407]d/ mmm yyyy\ &quot;um&quot; h:mm;@"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="170"/></cellXfs></styleSheet>`),
			"sheet: S\none |  | inline | text | #N/A | TRUE | 0.333333333333333 | 2023-03-15 12:00 | 1e+20 | 2026-03-02\n | zero | ?\n"},
		{"dates that count from 1904", archive(t,
			"_rels/.rels", rels("rId1", "officeDocument", "xl/workbook.xml"),
			"xl/workbook.xml", `<workbook`+names+`><workbookPr date1904="1"/><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", rels("rId1", "worksheet", "s.xml", "rId3", "styles", "styles.xml"),
			"xl/s.xml", `<worksheet><row><c s="0"><v>1</v></c></row></worksheet>`,
			"xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`), "sheet: S\n1904-01-02\n"},
		{"a heading by a style of another language", docx(t, `<w:p><w:pPr><w:pStyle w:val="berschrift2"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p><w:p><w:pPr><w:pStyle w:val="mine"/></w:pPr><w:r><w:t>sub</w:t></w:r></w:p>`,
			"word/_rels/document.xml.rels", rels("rId1", "styles", "styles.xml"),
			"word/styles.xml", `<w:styles`+names+`><w:style w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style><w:style w:styleId="mine"><w:basedOn w:val="berschrift2"/></w:style></w:styles>`),
			"## Plan\n## sub\n"},
		{"styles that are based on each other", docx(t, `<w:p><w:pPr><w:pStyle w:val="a"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>`,
			"word/_rels/document.xml.rels", rels("rId1", "styles", "styles.xml"),
			"word/styles.xml", `<w:styles`+names+`><w:style w:styleId="a"><w:basedOn w:val="b"/></w:style><w:style w:styleId="b"><w:basedOn w:val="a"/></w:style></w:styles>`), "x\n"},
		{"what nobody sees in the document", docx(t, `<w:p><w:r><w:t>seen</w:t></w:r><w:del><w:r><w:delText>deleted</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>`+
			`<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:tab/><w:t>too</w:t></w:r><w:r><w:instrText>HYPERLINK "https://evil.example"</w:instrText></w:r></w:p>`+
			`<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>a deleted row</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>`), "seen too\na / b\n"},
		{"a document that has been deleted in parts, of OpenDocument", odt(t, `<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p>a<text:s/>b<text:tab/>c<office:annotation><text:p>a comment</text:p></office:annotation></text:p>`), "a b c\n"},
		{"a document with macros", docx(t, `<w:p><w:r><w:t>x</w:t></w:r></w:p>`, "word/vbaProject.bin", "\x00\x01"), "x\n"},
		{"names in other letters and with other slashes", archive(t, `_RELS\.rels`, rels("rId1", "officeDocument", "Word/Document.xml"), `word\document.XML`, `<document><body><p><r><t>x</t></r></p></body></document>`), "x\n"},
	} {
		limit := 32 << 10
		if c.name == "a workbook of Excel" {
			limit = 350
		}
		text, whole, err := office.Text(c.data, limit)
		if d := cmp.Diff(c.want, text); d != "" || !whole || err != nil {
			t.Errorf("%s: %v, %v, wanted -, got +:\n%s", c.name, whole, err, d)
		}
	}
}

func TestDocumentsThatAreNotRead(t *testing.T) {
	t.Parallel()
	ole := "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 500)
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"one of Excel with a password", []byte(ole + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00"), office.ErrLocked},
		{"one of OpenDocument with a password", ods(t, "", "META-INF/manifest.xml", `<manifest><file-entry full-path="content.xml"><encryption-data/></file-entry></manifest>`), office.ErrLocked},
		{"one of a program before 2007", []byte(ole), office.ErrOther},
		{"an archive", archive(t, "a.txt", "x"), office.ErrOther},
		{"a book", archive(t, "mimetype", "application/epub+zip"), office.ErrOther},
		{"a drawing", archive(t, "mimetype", "application/vnd.oasis.opendocument.graphics"), office.ErrOther},
		{"a text", []byte("PK\x03\x04 is how archives begin"), office.ErrOther},
		{"nothing", nil, office.ErrOther},
		{"half of one", docx(t, "")[:200], office.ErrDamaged},
		{"one without its main part", archive(t, "_rels/.rels", rels("rId1", "officeDocument", "word/document.xml")), office.ErrDamaged},
		{"one whose XML is broken", docx(t, `<w:p><w:r>`), office.ErrDamaged},
		{"an entity of its own", docx(t, `<!DOCTYPE x [<!ENTITY e "evil">]><w:p><w:r><w:t>&e;</w:t></w:r></w:p>`), office.ErrDamaged},
		{"an entity of a file", archive(t, "_rels/.rels", rels("rId1", "officeDocument", "d.xml"), "d.xml", `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><document><p><t>&e;</t></p></document>`), office.ErrDamaged},
		{"another one's address as its main part", archive(t, "_rels/.rels", rels("rId1", "officeDocument", "https://evil.example/d.xml")), office.ErrOther},
		{"elements within elements", docx(t, strings.Repeat("<w:p>", 1000)), office.ErrLarge},
		{"an element with a million attributes", docx(t, `<w:p `+strings.Repeat(`a="" `, 1<<20)+`/>`), office.ErrLarge},
		{"too many entries", archive(t, many(12_000)...), office.ErrOther},
	} {
		if text, _, err := office.Text(c.data, 32<<10); !errors.Is(err, c.want) || text != "" {
			t.Errorf("%s: got %q, %v; want %v", c.name, text, err, c.want)
		}
	}
}

func many(n int) []string {
	files := []string{"_rels/.rels", rels("rId1", "officeDocument", "word/document.xml"), "word/document.xml", "<document/>"}
	for i := range n {
		files = append(files, fmt.Sprintf("%d", i), "")
	}
	return files
}

// Small documents that unpack into much, and large ones, take a bounded time and little
// memory. This test counts allocations: it runs alone.
func TestDocumentsThatUnpackIntoMuch(t *testing.T) {
	lying := xlsx(t, `<row><c><v>1</v></c></row>`)
	for i := bytes.Index(lying, []byte("PK\x01\x02")); i >= 0; { // every entry claims 4 GB
		binary.LittleEndian.PutUint32(lying[i+24:], 0xfffffffe)
		next := bytes.Index(lying[i+4:], []byte("PK\x01\x02"))
		if next < 0 {
			break
		}
		i += 4 + next
	}
	row := `<row><c r="A1"><v>1</v></c><c r="XFD1"><v>2</v></c></row>`
	for _, c := range []struct {
		name  string
		data  []byte
		whole bool
		has   string
		err   error
	}{
		{"a workbook of many rows", xlsx(t, strings.Repeat(row, 200_000)), true, "[the first 200 rows; there are more]\n[the first 50 columns; there are more]\n", nil},
		{"a workbook of many shared texts", xlsx(t, `<row><c t="s"><v>2</v></c><c t="s"><v>99999999</v></c></row>`, "xl/sharedStrings.xml", "<sst>"+strings.Repeat("<si><t>text</t></si>", 2_000_000)+"</sst>"), false, "text | ?\n", nil},
		{"a spreadsheet of one row, a billion times", ods(t, `<table:table-row table:number-rows-repeated="1000000000"><table:table-cell table:number-columns-repeated="1000000000"><text:p>x</text:p></table:table-cell></table:table-row>`), true, "there are more]", nil},
		{"a text of zeros", docx(t, `<w:p><w:r><w:t>`+strings.Repeat("0", 40<<20)+`</w:t></w:r></w:p>`), false, "0000", nil},
		{"a document of many paragraphs", docx(t, strings.Repeat(`<w:p><w:r><w:t>paragraph</w:t></w:r></w:p>`, 100_000)), false, "paragraph\n", nil},
		{"a document of one long paragraph", docx(t, `<w:p>`+strings.Repeat(`<w:r><w:t>words </w:t></w:r>`, 100_000)+`</w:p>`), false, "words words", nil},
		{"a document of empty cells", docx(t, `<w:tbl><w:tr><w:tc><w:p><w:r><w:t>first</w:t></w:r></w:p></w:tc>`+strings.Repeat(`<w:tc/>`, 500_000)+`</w:tr></w:tbl>`), false, "first\n", nil},
		{"spaces without end", odt(t, `<text:p>a<text:s text:c="2000000000"/>b</text:p>`), true, "a b\n", nil},
		{"entries that lie about their size", lying, false, "", office.ErrOther},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		text, whole, err := office.Text(c.data, 32<<10)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, c.err) || whole != c.whole && c.err == nil || !strings.Contains(text, c.has) || len(text) > 34<<10 {
			t.Errorf("%s: got %d bytes, %v, %v: %.100q", c.name, len(text), whole, err, text)
		}
		if held := int64(after.Sys) - int64(before.Sys); held > 64<<20 {
			t.Errorf("%s: took %d MiB", c.name, held>>20)
		}
		t.Logf("%s: %d bytes, allocated %d MiB", c.name, len(c.data), (after.TotalAlloc-before.TotalAlloc)>>20)
	}
}

// FuzzText looks for documents that no reader survives, or that say more than they may.
func FuzzText(f *testing.F) {
	list, err := filepath.Glob("testdata/*.*")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range list {
		if data, err := os.ReadFile(name); err == nil && len(data) < 9000 {
			f.Add(data)
		}
	}
	f.Add(deck(f))
	f.Add([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data) })
}

// FuzzParts is FuzzText for what is in the archives, which a change of compressed bytes
// hardly reaches.
func FuzzParts(f *testing.F) {
	for i, s := range []string{
		`<w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:footnote w:id="1"/>`,
		`<row r="1"><c r="B1" s="1" t="s"><v>0</v></c><c t="inlineStr"><is><t>x</t></is></c><c s="0"><v>45000.5</v></c></row>`,
		`<table:table-row table:number-rows-repeated="3"><table:table-cell office:value-type="date" office:date-value="2026-03-02T00:00:00"><text:p>x</text:p></table:table-cell></table:table-row>`,
		`<text:h text:outline-level="2">h</text:h><text:list><text:list-item><text:p>a<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>n</text:p></text:note-body></text:note><text:a href="https://x">l</text:a></text:p></text:list-item></text:list>`,
		`<draw:page><draw:frame class="title"><text:p>t</text:p></draw:frame><presentation:notes><text:p>n</text:p></presentation:notes></draw:page>`,
		`<p:sp><p:nvPr><p:ph type="title"/></p:nvPr><a:p><a:pPr lvl="3"/><a:r><a:t>x</a:t></a:r></a:p></p:sp>`,
	} {
		f.Add(uint8(i), s)
	}
	f.Fuzz(func(t *testing.T, kind uint8, s string) {
		more := []string{"xl/sharedStrings.xml", s, "xl/styles.xml", s, "word/_rels/document.xml.rels", s, "styles.xml", s, "META-INF/manifest.xml", s}
		switch kind % 6 {
		case 0:
			check(t, docx(t, s, more...))
		case 1:
			check(t, xlsx(t, s, more...))
		case 2:
			check(t, ods(t, s, more...))
		case 3:
			check(t, odt(t, s, more...))
		case 4:
			check(t, archive(t, "mimetype", "application/vnd.oasis.opendocument.presentation", "content.xml", "<x>"+s+"</x>"))
		case 5:
			check(t, archive(t, "_rels/.rels", rels("rId1", "officeDocument", "ppt/presentation.xml"), "ppt/presentation.xml", `<p:presentation`+names+`><p:sldId r:id="rId9"/></p:presentation>`,
				"ppt/_rels/presentation.xml.rels", rels("rId9", "slide", "s.xml"), "ppt/s.xml", "<x>"+s+"</x>", "ppt/_rels/s.xml.rels", rels("rId1", "notesSlide", "s.xml")))
		}
	})
}

func check(t *testing.T, data []byte) {
	const limit = 2000
	text, _, err := office.Text(data, limit)
	if err != nil && (text != "" || !errors.Is(err, office.ErrOther) && !errors.Is(err, office.ErrLocked) && !errors.Is(err, office.ErrDamaged) && !errors.Is(err, office.ErrLarge)) {
		t.Fatalf("%q with %v", text, err)
	}
	if !utf8.ValidString(text) || len(text) > limit+2<<10+len(data) {
		t.Fatalf("%d bytes of text, valid: %v", len(text), utf8.ValidString(text))
	}
}
