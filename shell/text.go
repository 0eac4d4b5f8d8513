// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"
	"io"
	"slices"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/base/prose"
)

const maxListed = 20 // how many items of a kind are listed before "and N more"

// count is a number with its noun: "1 switch", "2 switches".
func count(n int, noun string) string { return prose.Count(n, noun) }

func seconds(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// list prints items one a line behind a label, cut after maxListed.
func list(w io.Writer, label string, items []string) {
	shown, more := prose.Cut(items, maxListed)
	if more != "" {
		shown = append(slices.Clip(shown), more)
	}
	for _, item := range shown {
		_, _ = fmt.Fprintf(w, "  %s: %s\n", label, item)
	}
}

func quoteFile(path string) string { return fabric.Escape(path) }

// ints are numbers that JSON does not take for bytes.
func ints(bytes []uint8) []int {
	out := make([]int, len(bytes))
	for i, b := range bytes {
		out[i] = int(b)
	}
	return out
}
