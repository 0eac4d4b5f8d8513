// SPDX-License-Identifier: Apache-2.0

// Command screensvg converts the contents of a terminal, as tmux capture-pane -e -p writes them, from standard input to
// an SVG image on standard output. With -film it converts an asciicast of whole screens to an animation.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"

	"example.org/ibconsole/tui/svg"
)

func main() {
	moving := flag.Bool("film", false, "the input is an asciicast v2 of whole screens")
	flag.Parse()
	show := func(r io.Reader, w io.Writer) error { return svg.Screen(r, w, svg.Dark) }
	if *moving {
		show = svg.Film
	}
	if err := show(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "screensvg:", err)
		os.Exit(1)
	}
}
