// SPDX-License-Identifier: Apache-2.0

package drawing

import "fmt"

// Count formats a number of things: "1 cable", "1,234 cables".
type Count func(n int, noun string) string

// Words returns the contents of a block: "8 cables, 4 host ports, 1 failed".
func (b *Block) Words(count Count) string {
	text := count(b.Links, "cable")
	if b.Hosts > 0 {
		text += ", " + count(b.Hosts, "host port")
	}
	return text + failed(b.Down)
}

// Words returns the cables of a bundle: "4 cables, 1 failed".
func (w *Bundle) Words(count Count) string { return count(w.Cables, "cable") + failed(w.Down) }

func failed(down int) string {
	if down == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", down)
}
