// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedHangups lets the programs that tests start be ended by SIGHUP where the tests were started to ignore
// it, as nohup does: a signal that is caught is one with its default in a program that is started.
func HeedHangups() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}
