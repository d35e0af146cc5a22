package index

// A candidate is a doc with its score from the first pass.
type candidate struct {
	doc   uint32
	score float64
}

// A topK keeps the best of the candidates that it is offered, at most limit, as a
// heap with the worst of them first.
type topK struct {
	limit int
	docs  []doc
	list  []candidate
}

func (t *topK) full() bool { return len(t.list) == t.limit }

// least returns the score of the worst candidate that is kept.
func (t *topK) least() float64 { return t.list[0].score }

// worse reports whether a ranks behind b: by score, then by position.
func (t *topK) worse(a, b candidate) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	x, y := &t.docs[a.doc], &t.docs[b.doc]
	if x.time != y.time {
		return x.time < y.time
	}
	return x.id < y.id
}

// offer keeps c if it is among the best.
func (t *topK) offer(c candidate) {
	if !t.full() {
		t.list = append(t.list, c)
		for i := len(t.list) - 1; i > 0; {
			up := (i - 1) / 2
			if !t.worse(t.list[i], t.list[up]) {
				break
			}
			t.list[i], t.list[up] = t.list[up], t.list[i]
			i = up
		}
		return
	}
	if !t.worse(t.list[0], c) {
		return
	}
	t.list[0] = c
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(t.list) {
			return
		}
		if down+1 < len(t.list) && t.worse(t.list[down+1], t.list[down]) {
			down++
		}
		if !t.worse(t.list[down], t.list[i]) {
			return
		}
		t.list[i], t.list[down] = t.list[down], t.list[i]
		i = down
	}
}
