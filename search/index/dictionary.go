package index

import (
	"hash/maphash"
	"math/bits"
	"slices"
)

// A dictionary numbers terms in the order in which they come, in little memory: their
// names stand in one text, and a table of numbers by hash finds them. The seed of the
// hash is each dictionary's own, so that nobody can write words that all collide; what
// is found does not depend on it.
type dictionary struct {
	text []byte   // the names of all terms, one behind the other
	ends []uint32 // by term: where its name ends in text
	// slots has 1 + the number of a term and above it, from markBit on, a part of its hash,
	// at the first slot that is free from that of the hash on; 0 where it is free.
	slots []uint32
	seed  maphash.Seed
}

const (
	markBit  = 28
	maxWords = 1<<markBit - 1 // that slots can tell apart
)

// minSlots is how many slots a dictionary has at least.
const minSlots = 16

func newDictionary() dictionary { return dictionary{seed: maphash.MakeSeed()} }

// name returns the name of a term; it is not to be changed.
func (d *dictionary) name(n uint32) []byte {
	from := uint32(0)
	if n > 0 {
		from = d.ends[n-1]
	}
	return d.text[from:d.ends[n]]
}

// find returns the number of a term.
func (d *dictionary) find(name string) (uint32, bool) {
	if len(d.slots) == 0 {
		return 0, false
	}
	slot, _ := d.slotOf(maphash.String(d.seed, name), name)
	return numberIn(d.slots[slot]), d.slots[slot] != 0
}

// numberIn is the number of the term that a slot has.
func numberIn(slot uint32) uint32 { return slot&maxWords - 1 }

// slotOf returns the slot of a term, or the free one that it would get, and its mark.
func (d *dictionary) slotOf(hash uint64, name string) (slot int, mark uint32) {
	mark = uint32(hash) << markBit
	for slot = d.first(hash); d.slots[slot] != 0; slot = d.next(slot) {
		if s := d.slots[slot]; s&^maxWords == mark && string(d.name(numberIn(s))) == name {
			break
		}
	}
	return slot, mark
}

// first is the slot of a hash.
func (d *dictionary) first(hash uint64) int {
	slot, _ := bits.Mul64(hash, uint64(len(d.slots)))
	return int(slot)
}

// next is the slot after one.
func (d *dictionary) next(slot int) int {
	if slot++; slot == len(d.slots) {
		return 0
	}
	return slot
}

// add returns the number of a term, a new one where it has none.
func (d *dictionary) add(name string) (number uint32, isNew bool) {
	if 4*len(d.ends) >= 3*len(d.slots) {
		d.resize(max(minSlots, 2*len(d.slots)))
	}
	slot, mark := d.slotOf(maphash.String(d.seed, name), name)
	if s := d.slots[slot]; s != 0 {
		return numberIn(s), false
	}
	number = uint32(len(d.ends))
	d.text = append(d.text, name...)
	d.ends = append(d.ends, uint32(len(d.text)))
	d.slots[slot] = mark | (number + 1)
	return number, true
}

// resize makes the table anew, with so many slots.
func (d *dictionary) resize(slots int) {
	d.slots = make([]uint32, slots)
	for n := range uint32(len(d.ends)) {
		hash := maphash.Bytes(d.seed, d.name(n))
		slot := d.first(hash)
		for d.slots[slot] != 0 {
			slot = d.next(slot)
		}
		d.slots[slot] = uint32(hash)<<markBit | (n + 1)
	}
}

// clip gives back the room for more terms.
func (d *dictionary) clip() {
	d.text, d.ends = clipped(d.text), clipped(d.ends)
	if full := len(d.ends)*4/3 + 1; full < len(d.slots) {
		d.resize(full)
	}
}

// clipped is list without the room behind it.
func clipped[T any](list []T) []T {
	if cap(list) == len(list) {
		return list
	}
	return slices.Clip(append([]T(nil), list...))
}
