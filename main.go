// SPDX-License-Identifier: Apache-2.0

// Command ibconsole is a terminal console for an InfiniBand subnet.
package main

import (
	"os"
	"runtime"

	"example.org/ibconsole/internal/app/cli"
	_ "example.org/ibconsole/internal/base/noprobe" // before anything draws
)

// main reserves the first thread: Linux delivers the signals of the process to it, and they would wait while that
// thread is in a read that the system does not interrupt.
func main() {
	runtime.LockOSThread()
	go func() { os.Exit(cli.Main()) }()
	select {}
}
