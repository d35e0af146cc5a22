package search

// Bytes returns what the indexes hold in memory, by their own estimate.
func (s *Searcher) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}
