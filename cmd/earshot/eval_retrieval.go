package main

import "errors"

type evalRetrievalCmd struct{}

// Run is written next.
func (c *evalRetrievalCmd) Run() error { return errors.New("eval retrieval is not built yet") }
