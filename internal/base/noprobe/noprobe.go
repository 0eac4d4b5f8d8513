// SPDX-License-Identifier: Apache-2.0

// Package noprobe keeps Bubble Tea from querying the terminal's background colour. Program main imports it only for
// this effect.
//
// Bubble Tea v1 sends the query in its own init, so importing it is enough. On a terminal that does not respond, such
// as a serial or IPMI console, every command would wait for five seconds. Lip Gloss does not query a colour that was
// set before, which this package's init does. It is the only init of the program with an effect.
//
// This works because Go initialises packages that are ready in the order of their import paths, and example.org comes
// before github.com/charmbracelet. So this package must import nothing but Lip Gloss, and the module's path must sort
// before Bubble Tea's.
package noprobe

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
