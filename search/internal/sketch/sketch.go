// Package sketch finds vectors that point where a query points, in little memory: of
// each vector it keeps the signs of its numbers, a bit each, and compares by how many
// differ. What it finds is a first choice, to be compared again by the whole vectors.
package sketch

import (
	"math"
	"math/bits"
	"slices"

	"github.com/earshot-ai/earshot"
)

// An Index holds the sketches of a channel's messages: of 1,024 numbers 128 bytes. One
// goroutine at a time may use it. The zero Index is empty.
type Index struct {
	words int // of a sketch, 64 bits each; all have the length of the first
	bits  []uint64
	ids   []earshot.MessageID
	slots map[earshot.MessageID]int
	idLen int64
}

// Put adds a message's vector, or replaces it. An empty one takes the message out, as
// does one of another length than the others'.
func (x *Index) Put(id earshot.MessageID, vector []int8) {
	words := (len(vector) + 63) / 64
	if x.words == 0 {
		x.words = words
	}
	slot, known := x.slots[id]
	switch {
	case words == 0 || words != x.words:
		if known {
			x.drop(id, slot)
		}
		return
	case !known:
		if x.slots == nil {
			x.slots = map[earshot.MessageID]int{}
		}
		slot = len(x.ids)
		x.slots[id] = slot
		x.ids = append(x.ids, id)
		x.bits = append(x.bits, make([]uint64, words)...)
		x.idLen += int64(len(id))
	}
	signs(x.bits[slot*words:(slot+1)*words], vector)
}

// drop takes a message out; the last one gets its slot.
func (x *Index) drop(id earshot.MessageID, slot int) {
	last := len(x.ids) - 1
	x.ids[slot] = x.ids[last]
	x.slots[x.ids[slot]] = slot
	copy(x.bits[slot*x.words:(slot+1)*x.words], x.bits[last*x.words:])
	x.ids, x.bits = x.ids[:last], x.bits[:last*x.words]
	delete(x.slots, id)
	x.idLen -= int64(len(id))
}

// signs writes a vector's signs: bit i is set where its number i is positive.
func signs(to []uint64, vector []int8) {
	clear(to)
	for i, v := range vector {
		if v > 0 {
			to[i/64] |= 1 << (i % 64)
		}
	}
}

// Len returns how many messages have a sketch.
func (x *Index) Len() int { return len(x.ids) }

// Bytes estimates how much memory the index takes.
func (x *Index) Bytes() int64 { return int64(8*cap(x.bits)+64*len(x.ids)) + 2*x.idLen }

// A nearMessage differs from the query in so many signs.
type nearMessage struct {
	slot, differ int
}

// Nearest returns the n admitted messages whose sketches are most like the vector's, the
// most alike first; of equal ones in the order in which they were put.
func (x *Index) Nearest(vector []int8, n int, admits func(earshot.MessageID) bool) []earshot.MessageID {
	if words := (len(vector) + 63) / 64; words != x.words || n <= 0 {
		return nil
	}
	query := make([]uint64, x.words)
	signs(query, vector)
	var best []nearMessage // ascending
	worst := math.MaxInt
	for slot := range x.ids {
		differ := 0
		other := x.bits[slot*len(query):][:len(query)]
		for i, w := range query {
			differ += bits.OnesCount64(w ^ other[i])
		}
		if differ >= worst || !admits(x.ids[slot]) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, differ+1, func(b nearMessage, d int) int { return b.differ - d })
		if len(best) == n {
			best = best[:n-1]
		}
		best = slices.Insert(best, at, nearMessage{slot, differ})
		if len(best) == n {
			worst = best[n-1].differ
		}
	}
	out := make([]earshot.MessageID, len(best))
	for i, b := range best {
		out[i] = x.ids[b.slot]
	}
	return out
}
