package tokens

import "github.com/earshot-ai/earshot/tokens/internal/vocab"

// countPiece returns the tokens of a piece.
func countPiece(piece string) int {
	if vocab.Rank(piece) != vocab.None {
		return 1
	}
	n := 0
	mergePieces(piece, func(int) bool { n++; return true })
	return n
}

// prefixOfPiece returns the bytes of the first n tokens of a piece.
func prefixOfPiece(piece string, n int) int {
	end := 0
	mergePieces(piece, func(to int) bool {
		if n == 0 {
			return false
		}
		n--
		end = to
		return true
	})
	return end
}

// mergePieces calls yield with the end of each token of a piece, until it returns
// false. Pieces of up to scanned bytes, nearly all there are, are merged by
// looking through all pairs, the others with a heap, in O(n log n): a run of
// 40,000 letters is one piece.
func mergePieces(piece string, yield func(end int) bool) {
	if len(piece) > scanned {
		mergeHeap(piece, yield)
		return
	}
	var ends [scanned + 1]uint8 // ends[i] is where part i begins; the last is the end
	var ranks [scanned + 1]uint32
	n := len(piece) // parts
	for i := range n + 1 {
		ends[i] = uint8(i)
	}
	for i := range n - 1 {
		ranks[i] = vocab.PairRank(piece[i], piece[i+1])
	}
	rank := func(i int) uint32 {
		if i+2 > n {
			return vocab.None
		}
		return vocab.Rank(piece[ends[i]:ends[i+2]])
	}
	for n > 1 {
		best, lowest := 0, vocab.None
		for i, r := range ranks[:n-1] {
			if r < lowest {
				best, lowest = i, r
			}
		}
		if lowest == vocab.None {
			break
		}
		copy(ends[best+1:n], ends[best+2:n+1])
		copy(ranks[best+1:n-1], ranks[best+2:n])
		n--
		ranks[best] = rank(best)
		if best > 0 {
			ranks[best-1] = rank(best - 1)
		}
	}
	for i := range n {
		if !yield(int(ends[i+1])) {
			return
		}
	}
}

// scanned is up to how many bytes a piece is merged by looking through it.
const scanned = 64

// A link is a part of a piece in mergeHeap, at the index of its first byte.
type link struct {
	prev, next int32  // the neighbours; next is where the part ends
	rank       uint32 // of this part and the next together
}

// mergeHeap is merge for long pieces.
func mergeHeap(piece string, yield func(end int) bool) {
	n := int32(len(piece))
	parts := make([]link, n)
	var h heap
	rank := func(i int32) uint32 {
		if j := parts[i].next; j < n {
			return vocab.Rank(piece[i:parts[j].next])
		}
		return vocab.None
	}
	for i := range n {
		parts[i] = link{prev: i - 1, next: i + 1, rank: vocab.None}
		if i+1 < n {
			parts[i].rank = vocab.PairRank(piece[i], piece[i+1])
		}
		if r := parts[i].rank; r != vocab.None {
			h = append(h, packCandidate(r, i))
		}
	}
	h.init()
	for len(h) > 0 {
		r, i := h.pop()
		if parts[i].rank != r {
			continue // joined or changed since
		}
		j := parts[i].next
		parts[j].rank = vocab.None
		parts[i].next = parts[j].next
		if k := parts[i].next; k < n {
			parts[k].prev = i
		}
		for _, b := range [2]int32{i, parts[i].prev} {
			if b < 0 {
				continue
			}
			if parts[b].rank = rank(b); parts[b].rank != vocab.None {
				h.push(packCandidate(parts[b].rank, b))
			}
		}
	}
	for i := int32(0); i < n; i = parts[i].next {
		if !yield(int(parts[i].next)) {
			return
		}
	}
}

// A heap holds candidates, the least first: rank in the upper half, so that
// the lowest rank wins, and of equal ones the leftmost.
type heap []uint64

func packCandidate(rank uint32, at int32) uint64 { return uint64(rank)<<32 | uint64(at) }

func (h heap) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

func (h *heap) push(c uint64) {
	s := append(*h, c)
	i := len(s) - 1
	for i > 0 && c < s[(i-1)/2] {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = c
	*h = s
}

func (h *heap) pop() (rank uint32, at int32) {
	s := *h
	top, last := s[0], len(s)-1
	s[0] = s[last]
	*h = s[:last]
	h.down(0)
	return uint32(top >> 32), int32(uint32(top))
}

func (h heap) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(h) {
			return
		}
		if c+1 < len(h) && h[c+1] < h[c] {
			c++
		}
		if h[i] <= h[c] {
			return
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
}
