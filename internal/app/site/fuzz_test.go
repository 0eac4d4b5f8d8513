// SPDX-License-Identifier: Apache-2.0

package site

import (
	"strings"
	"testing"
)

// FuzzParse checks that errors name the file and the line, and contain no control characters.
func FuzzParse(f *testing.F) {
	f.Add("source sim:fattree:2,4\nnames /etc/ibconsole/names\nhints /h\nmkeys /k\nwatch 10\n")
	f.Add("alert SymbolErrorCounter 1440/1h error clear=60\nlimit temperature 70\nwrite group:ibadmin\nwrite never\n")
	f.Add("rails = umad:mlx5_0, umad:mlx5_1\nbind x route\n# comment\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parse(strings.NewReader(text), "conf")
		switch {
		case err != nil && !strings.HasPrefix(err.Error(), "conf:"):
			t.Errorf("the error has no line: %v", err)
		case err == nil && c.Watch != 0 && (c.Watch.Seconds() < Shortest || c.Watch.Seconds() > Longest):
			t.Errorf("watch is %v", c.Watch)
		}
	})
}
