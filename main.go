// SPDX-License-Identifier: Apache-2.0

// Command ibconsole is a terminal console for an InfiniBand subnet.
package main

import (
	"os"
	"runtime"

	"example.org/ibconsole/internal/app/cli"
	_ "example.org/ibconsole/internal/base/noprobe" // before anything draws
)

// main keeps the first thread to itself: Linux gives it the signals of the process, which wait where that thread is in
// a read that the system does not end.
func main() {
	runtime.LockOSThread()
	go func() { os.Exit(cli.Main()) }()
	select {}
}
