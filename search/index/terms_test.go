package index_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/search/index"
)

func TestTerms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"words are stemmed and in lower case", "Running DEPLOYS hanged", "run deploy hang"},
		{"stop words stay", "what is it", "what is it"},
		{"an apostrophe belongs to its word", "don't Alice's Bob’s", "dont alic bob"},
		{"full width and accents are folded", "Ｄｅｐｌｏｙ résumé", "deploy resum"},
		{"a version as a whole and by its shorter forms", "v1.4.2", "v1.4.2 1.4.2 1.4"},
		{"a short version", "the 1.4 deploy.", "the 1.4 deploy"},
		{"a release candidate", "1.4.2-rc1", "1.4.2-rc1 1.4.2 1.4 rc1"},
		{"a ticket as a whole and in parts", "(ABC-123)", "abc-123 abc 123"},
		{"a number with a hash sign", "#812", "#812 812"},
		{"a URL without its scheme, its host, its parts", "https://www.example.com/a/my_file.go?x=1", "example.com/a/my_file.go?x=1 example.com exampl com a my_file.go my_file my file go x 1"},
		{"a link's label counts too", "<https://example.com|our page>", "example.com exampl com our page"},
		{"a path", "/etc/ssh/sshd.conf", "etc/ssh/sshd.conf etc ssh sshd.conf sshd conf"},
		{"a name", "@Bob: yes", "@bob bob yes"},
		{"a stored mention is the name", "<@U1|Alice Smith> ok", "@alice alic smith ok"},
		{"a mention without a name is the id", "<@U1> <@!17>", "@u1 u1 @17 17"},
		{"a channel, a group, everyone", "<#C1|general> <!subteam^S1|@oncall> <!here>", "#general general @oncall oncal @here here"},
		{"an emoji by its name or itself", ":tada: 🎉 <:party:123>", "tada 🎉 parti"},
		{"languages with signs in their names", "C++ and C#", "c++ c and c# c"},
		{"Japanese by pairs", "日本語", "日本 本語"},
		{"a run of one character is itself", "a 日 b", "a 日 b"},
		{"scripts are told apart without spaces", "1.4のデプロイfails", "1.4 のデ デプ プロ ロイ fail"},
		{"half width katakana", "ﾃﾞﾌﾟﾛｲ", "デプ プロ ロイ"},
		{"Korean", "배포 실패", "배포 실패"},
		{"other scripts are words", "Привет мир", "привет мир"},
		{"three dots end a word", "wait...what", "wait what"},
		{"angle brackets of other kinds are nothing", "a < b > c <<x>", "a b c x"},
		{"broken UTF-8 is a gap", "a\xffb", "a b"},
		{"what stands for broken text is a gap", "a\ufffdb\u2400c", "a b c"},
		{"signs alone are nothing", "-- ... // @ # ' <> <@> <!> <:> <|>", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(index.Terms(c.text), " ")
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("Terms(%q): -got +want\n%s", c.text, diff)
			}
		})
	}
}

func TestTermsOfHostileTextAreBounded(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"a", "a ", "a.", "1.", "日", "<", "<@", "<a>", "a-b_c.d/", "'", "://", "\ufdfa", "🎉", "\u0301", "@", "é"} {
		checkTerms(t, strings.Repeat(s, 400_000/len(s)))
	}
	if got := len(index.Terms(strings.Repeat("日", 40_000))); got != index.MaxTerms {
		t.Errorf("40,000 characters gave %d terms, want %d", got, index.MaxTerms)
	}
}

func checkTerms(t *testing.T, text string) {
	t.Helper()
	got := index.Terms(text)
	if len(got) > index.MaxTerms {
		t.Errorf("%d terms", len(got))
	}
	for _, term := range got {
		if term == "" || len(term) > index.MaxTerm || !utf8.ValidString(term) || strings.ContainsFunc(term, unicode.IsSpace) {
			t.Errorf("bad term %q of %.100q", term, text)
		}
	}
	if !slices.Equal(got, index.Terms(text)) {
		t.Errorf("the terms of %.100q are not the same twice", text)
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"", "v1.4.2 ABC-123 https://a.b/c?d=e#f", "<@U1|Alice> <!subteam^S1|@x> <#C1|g> <:e:1> <a|b>", "日本語1.4デ\u3099", "c++ c# 'x' ’s", "\xff\xfe", "ﬀ ǅ İ ẞ", "a::b__c..d--e//f"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) { checkTerms(t, text) })
}

func BenchmarkTerms(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"message", "Did anyone look at why the staging deploy of 1.4.2 hangs? I see `migrate: lock timeout` in the log, see https://ci.example.com/builds/812"},
		{"japanese", "このチャンネルでは次のリリースについて話しましょう。ビルドが失敗しています。"},
		{"a 40,000-character paste", strings.Repeat("staging is down again: ", 1740)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				index.Terms(c.text)
			}
		})
	}
}

func TestACutterMakesTheTermsOfEachTextAsIfItWereTheFirst(t *testing.T) {
	t.Parallel()
	var c index.Cutter
	for i := range 40_000 { // more words than it remembers
		text := fmt.Sprintf("running migrations of shard%c%c%c%c at host-%d: failed failures", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26, 'a'+i/17_576%26, i)
		if diff := cmp.Diff(c.Terms(text), index.Terms(text)); diff != "" {
			t.Fatalf("%q (-got +want):\n%s", text, diff)
		}
	}
}
