// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"

	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/routing/classify"
)

// LoadHints has hints of a file overrule what is recognised of the structure of fabrics, in place of those before.
func (s *Session) LoadHints(ctx context.Context, path string) (*classify.Hints, error) {
	hints, err := files.Parse(ctx, path, files.Config, classify.ReadHints)
	if err != nil {
		return nil, err
	}
	s.setHints(hints)
	return hints, nil
}

// ForgetHints takes structures for what they are recognised as.
func (s *Session) ForgetHints() { s.setHints(nil) }

func (s *Session) setHints(hints *classify.Hints) {
	s.analysis.Hint(hints)
	s.Publish(ChangeSettings, func(*State) {})
}
