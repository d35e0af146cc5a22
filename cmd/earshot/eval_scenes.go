package main

import "errors"

type evalScenesCmd struct{}

// Run is written next.
func (c *evalScenesCmd) Run() error { return errors.New("eval scenes is not built yet") }
