// SPDX-License-Identifier: Apache-2.0

// Program guarded is program bare with an import of noprobe before Bubble Tea.
package main

import (
	_ "example.org/ibconsole/internal/base/noprobe"
	_ "github.com/charmbracelet/bubbletea"
)

func main() {}
