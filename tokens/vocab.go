package tokens

import (
	"sync"

	"github.com/tiktoken-go/tokenizer/codec"
)

// longestToken is a bound of a token's bytes; the longest is 128 spaces.
const longestToken = 128

// none is the rank of what is no token.
const none = ^uint32(0)

// A vocab is the tokens of o200k with their ranks, which are their ids. Merging
// joins the pair of the lowest rank first. It is a hash table of its own: half
// the memory and a third of the time to fill of a Go map, and every command
// that counts anything waits for it.
type vocab struct {
	slots []uint32        // rank + 1 by hash, 0 where there is none; a clash goes to the next
	text  []byte          // all tokens, by rank
	ends  []uint32        // in text, by rank + 1; ends[0] is 0
	pairs [1 << 16]uint32 // ranks of two bytes: the first look of every merge
}

// slotBits gives five slots for two tokens.
const slotBits = 19

// vocabulary loads the tokens from the library, which embeds them, by decoding
// every id: it offers no other way to them.
var vocabulary = sync.OnceValue(func() *vocab {
	const ids = 1 << 18 // beyond all of them
	v := &vocab{slots: make([]uint32, 1<<slotBits), text: make([]byte, 0, 2<<20), ends: make([]uint32, 1, ids+1)}
	for i := range v.pairs {
		v.pairs[i] = none
	}
	c := codec.NewO200kBase()
	for id := range uint32(ids) {
		token, err := c.Decode([]uint{uint(id)})
		if err == nil { // else an id without a token
			v.add(id, token)
		}
		v.ends = append(v.ends, uint32(len(v.text)))
	}
	return v
})

func (v *vocab) add(rank uint32, token string) {
	v.text = append(v.text, token...)
	i := hash(token)
	for v.slots[i] != 0 {
		i = (i + 1) % (1 << slotBits)
	}
	v.slots[i] = rank + 1
	if len(token) == 2 {
		v.pairs[int(token[0])<<8|int(token[1])] = rank
	}
}

// rank returns the rank of a token, or none.
func (v *vocab) rank(token string) uint32 {
	if len(token) > longestToken {
		return none
	}
	for i := hash(token); v.slots[i] != 0; i = (i + 1) % (1 << slotBits) {
		if r := v.slots[i] - 1; string(v.text[v.ends[r]:v.ends[r+1]]) == token {
			return r
		}
	}
	return none
}

// hash mixes s to a slot, eight bytes at a time: a run of one sign is looked up
// at every length up to the longest token.
func hash(s string) uint32 {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(len(s)) * prime
	for ; len(s) >= 8; s = s[8:] {
		word := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
			uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
		h = (h ^ word) * prime
		h ^= h >> 32
	}
	var word uint64
	for i := range len(s) {
		word |= uint64(s[i]) << (8 * i)
	}
	h = (h ^ word) * prime
	return uint32(h >> (64 - slotBits))
}
