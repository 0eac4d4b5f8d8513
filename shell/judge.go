// SPDX-License-Identifier: Apache-2.0

package shell

import (
	"fmt"

	"example.org/ibconsole/internal/base/verdict"
	"example.org/ibconsole/shell/feature"
)

// judge returns the error of a check: found where something wrong was found, and unknown where the verdict is unknown,
// unless strict=no was given; unknown is a warning then.
func (c *call) judge(v verdict.Verdict, found, unknown string) error {
	switch {
	case v == verdict.Found:
		return &feature.FoundError{Verdict: v, What: found}
	case v == verdict.OK:
		return nil
	case c.Option("strict", "yes") == "yes":
		return &feature.FoundError{Verdict: v, What: unknown}
	}
	c.out.warn("%s", unknown)
	return nil
}

func found(format string, args ...any) error {
	return &feature.FoundError{Verdict: verdict.Found, What: fmt.Sprintf(format, args...)}
}
