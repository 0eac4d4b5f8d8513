// SPDX-License-Identifier: Apache-2.0

// Package umad is the path to the InfiniBand adapters of this machine: a [mad.Transport] over the character
// devices /dev/infiniband/umadN of the Linux module ib_umad, what sysfs says of adapters and their ports
// ([Ports]), and why a port cannot be used ([Diagnose]).
//
// The devices' interface is that of Linux's include/uapi/rdma/ib_user_mad.h; what the kernel makes of it is
// in drivers/infiniband/core/user_mad.c and mad.c. An agent of the kernel is a queue pair and a class that a
// program sends as; the kernel puts the agent's number into the upper 32 bits of the transaction id, hands
// answers to the agent that asked, and hands a request back with the status ETIMEDOUT when none came in time.
// It is never told to send again, which is the client's business.
//
// Subnet management packets go over queue pair 0, everything else over queue
// pair 1. A port whose link layer is Ethernet (RoCE) has no queue pair 0.
//
// Where a function takes a root, sysfs and devices are looked for below it, for tests; "" is the machine.
package umad
