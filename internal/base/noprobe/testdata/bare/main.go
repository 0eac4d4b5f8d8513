// SPDX-License-Identifier: Apache-2.0

// Program bare imports Bubble Tea and does nothing: the probe unguarded.
package main

import _ "github.com/charmbracelet/bubbletea"

func main() {}
