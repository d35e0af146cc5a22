package main

import "errors"

type evalLinksCmd struct{}

// Run is written next.
func (c *evalLinksCmd) Run() error { return errors.New("eval links is not built yet") }
