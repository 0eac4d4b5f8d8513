// SPDX-License-Identifier: Apache-2.0

package shell

import "testing"

func TestKeysArePrivate(t *testing.T) {
	for line, want := range map[string]bool{
		"sa groups key=0x17": true, "sa groups": false, "paths build pkey=0x8001": false,
	} {
		if Private(line) != want {
			t.Errorf("%s: %v", line, !want)
		}
	}
}
