package vocab_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/earshot-ai/earshot/tokens/internal/vocab"
)

func TestTheFileIsMadeOfThePublishedVocabulary(t *testing.T) {
	t.Parallel()
	want, err := vocab.Encode(vocab.DecodeTokens(codec.NewO200kBase()))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("o200k.table")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("o200k.table is not what the library publishes (%d bytes, want %d): go generate ./tokens/...", len(got), len(want))
	}
}

func TestEveryTokenIsFoundUnderItsRank(t *testing.T) {
	t.Parallel()
	tokens := vocab.DecodeTokens(codec.NewO200kBase())
	if len(tokens) != 199_998 {
		t.Fatalf("the library has %d tokens, want 199,998", len(tokens))
	}
	is := make(map[string]bool, len(tokens))
	longest := 0
	for rank, token := range tokens {
		is[token] = true
		longest = max(longest, len(token))
		if got := vocab.Rank(token); got != uint32(rank) {
			t.Fatalf("Rank(%q) = %d, want %d", token, got, rank)
		}
		if len(token) == 2 {
			if got := vocab.PairRank(token[0], token[1]); got != uint32(rank) {
				t.Fatalf("PairRank(%q) = %d, want %d", token, got, rank)
			}
		}
	}
	if longest != vocab.Longest {
		t.Errorf("the longest token has %d bytes, Longest is %d", longest, vocab.Longest)
	}
	for _, token := range tokens {
		if other := token + "\x00"; !is[other] && vocab.Rank(other) != vocab.None {
			t.Fatalf("Rank(%q) = %d, but it is no token", other, vocab.Rank(other))
		}
	}
	for pair := range 1 << 16 {
		a, b := byte(pair>>8), byte(pair)
		if !is[string([]byte{a, b})] && vocab.PairRank(a, b) != vocab.None {
			t.Fatalf("PairRank(%q, %q) = %d, but it is no token", a, b, vocab.PairRank(a, b))
		}
	}
}

func TestMakeRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	if _, err := vocab.Encode(make([]string, 1<<18)); err == nil {
		t.Error("a vocabulary without room for an empty slot was taken")
	}
	if _, err := vocab.Encode([]string{string(make([]byte, vocab.Longest+1))}); err == nil {
		t.Error("a token that is longer than Longest was taken")
	}
}
