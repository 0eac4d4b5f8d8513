// SPDX-License-Identifier: Apache-2.0

package session

import (
	"fmt"
	"os"
)

// OpenFile opens a file to read and refuses a folder.
func OpenFile(path string) (*os.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, fmt.Errorf("%s: a folder, expected a file", path)
	}
	return os.Open(path)
}
