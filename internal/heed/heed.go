// SPDX-License-Identifier: Apache-2.0

// Package heed listens to signals as a program has to that others start.
package heed

import (
	"os"
	"os/signal"
	"slices"
)

// Signals is [signal.Notify], but for signals that the program was started to ignore, as
// nohup has programs ignore SIGHUP: these stay ignored.
func Signals(c chan<- os.Signal, all ...os.Signal) {
	all = slices.DeleteFunc(slices.Clone(all), signal.Ignored)
	if len(all) > 0 { // none are all
		signal.Notify(c, all...)
	}
}
