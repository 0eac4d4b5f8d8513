// SPDX-License-Identifier: Apache-2.0

// Package noprobe keeps Bubble Tea from asking the terminal for its background
// colour. Program main imports it for that effect alone.
//
// Bubble Tea v1 sends the query in its own init, so importing it is enough: on a terminal that does not answer,
// such as a serial or IPMI console, every command would stall for five seconds. Lip Gloss does not ask where the
// answer was set before, which is what this package's init does. It is the one init of the program that acts.
//
// It works because Go initialises packages that are ready in the order of their import paths, and example.org
// comes before github.com/charmbracelet. So this package must import nothing but Lip Gloss, and the module's
// path must sort before Bubble Tea's.
package noprobe

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
