package main

import "errors"

type evalCostCmd struct{}

// Run is written next.
func (c *evalCostCmd) Run() error { return errors.New("eval cost is not built yet") }
