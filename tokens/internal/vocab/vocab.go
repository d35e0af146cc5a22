// Package vocab is the vocabulary of o200k: 199,998 tokens and their ranks.
//
// The vocabulary is a hash table in a file that is embedded in the program and
// read where it lies, so that a program that counts tokens neither decodes nor
// allocates anything when it starts. [Rank] and [PairRank] look tokens up. The
// program in gen writes the file with [Encode], from the library that publishes
// the vocabulary; a test compares the two.
package vocab

import _ "embed"

//go:generate go run ./gen o200k.table

// The file is, in this order and in little-endian words of four bytes:
//
//	1 word               how many tokens there are
//	1<<slotBits words    the slots of the hash table, see entry
//	1<<16 words          by the two bytes of a token: its rank, or None
//	tokens + 1 words     where each token begins in the text, by rank; and its end
//	bytes                the text: all tokens, by rank
//
//go:embed o200k.table
var file string

// None is the rank of what is no token.
const None = ^uint32(0)

// Longest is how many bytes the longest token has: 128 spaces.
const Longest = 128

const (
	word     = 4
	slotBits = 18 // four slots for three tokens
	rankBits = 18

	slotsAt = word
	pairsAt = slotsAt + word<<slotBits
	startAt = pairsAt + word<<16
)

// The parts of the file.
var (
	slots  = file[slotsAt:pairsAt]
	pairs  = file[pairsAt:startAt]
	starts = file[startAt:textAt()]
	text   = file[textAt():]
)

func textAt() int { return startAt + word*int(at(file, 0)+1) }

// at returns the word of a part of the file at an index.
func at(part string, i uint32) uint32 {
	s := part[word*i : word*i+word]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// Rank returns the rank of a token, or None.
func Rank(token string) uint32 {
	if len(token) > Longest {
		return None
	}
	slot, fingerprint := hash(token)
	for {
		e := at(slots, slot)
		if e == 0 {
			return None
		}
		if e>>rankBits == fingerprint {
			r := e&(1<<rankBits-1) - 1
			if text[at(starts, r):at(starts, r+1)] == token {
				return r
			}
		}
		slot = (slot + 1) % (1 << slotBits)
	}
}

// PairRank returns the rank of the token of two bytes, or None. It is the first
// look-up of every merge, and faster than Rank.
func PairRank(a, b byte) uint32 { return at(pairs, uint32(a)<<8|uint32(b)) }

// An entry of the hash table has a token's rank + 1 in its lower rankBits bits
// and the token's fingerprint in the others; 0 is an empty slot. Where a slot is taken
// the token is in the next one that is not.
func entry(rank, fingerprint uint32) uint32 { return fingerprint<<rankBits | rank + 1 }

// hash returns the slot at which the search for a token begins, and its fingerprint:
// further bits of the hash, by which nearly every other token is told apart
// without a look at its text.
func hash(s string) (slot, fingerprint uint32) {
	const prime = 0x9e3779b97f4a7c15
	h := uint64(len(s)) * prime
	// Eight bytes at a time: a run of one character is looked up at every length
	// up to the longest token.
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
	return uint32(h >> (64 - slotBits)), uint32(h>>32) % (1 << (32 - rankBits))
}
