package main

import "errors"

type evalContextCmd struct{}

// Run is written next.
func (c *evalContextCmd) Run() error { return errors.New("eval context is not built yet") }
