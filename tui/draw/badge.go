// SPDX-License-Identifier: Apache-2.0

package draw

import (
	"strings"
)

// Badge is a word that names a picture.
type Badge struct {
	St Style
	// Line is for the frame of a pane that shows the picture, "" for the usual, and
	// frame the kind of its lines.
	Line  Style
	Frame int
	Word  string
}

// Short is the word for where there is little room: "STAGED" for "STAGED minhop".
func (b *Badge) Short() string {
	switch b.Word {
	case "WRITE ON":
		return b.Word
	case "SIMULATED":
		return "SIM"
	case "STAGED, STALE":
		return "STALE"
	}
	return strings.TrimRight(FirstWord(b.Word), ",")
}
