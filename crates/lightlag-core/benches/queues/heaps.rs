//! Heaps as event queues: one retains stale entries, the others track the position of every entity.

use crate::{NEVER, Queue};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

const ABSENT: u32 = u32::MAX;

fn key(time: u64, entity: u32) -> u128 {
    u128::from(time) << 64 | u128::from(entity)
}

fn parts(key: u128) -> (u64, u32) {
    ((key >> 64) as u64, key as u32)
}

/// The standard library's heap. An entry that moves closer is pushed again; the older one stays, and is skipped when it
/// reaches the top.
pub struct LazyStdHeap {
    heap: BinaryHeap<Reverse<u128>>,
    /// The true deadline of each entity.
    due: Vec<u64>,
}

impl Queue for LazyStdHeap {
    fn new(entities: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(entities), due: vec![NEVER; entities] }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let due = &mut self.due[entity as usize];
        if time < *due {
            *due = time;
            self.heap.push(Reverse(key(time, entity)));
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        loop {
            let top = self.heap.peek_mut().expect("an event is always pending");
            let (time, entity) = parts(top.0);
            if self.due[entity as usize] == time {
                return (time, entity);
            }
            PeekMut::pop(top);
        }
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        self.due[entity as usize] = time;
        let mut top = self.heap.peek_mut().expect("an event is always pending");
        if time == NEVER {
            PeekMut::pop(top);
        } else {
            *top = Reverse(key(time, entity));
        }
    }
}

/// A binary heap that tracks the position of every entity.
pub struct IndexedBinaryHeap {
    heap: Vec<u128>,
    position: Vec<u32>,
}

impl IndexedBinaryHeap {
    #[inline]
    fn put(&mut self, index: usize, key: u128) {
        self.heap[index] = key;
        self.position[key as u32 as usize] = index as u32;
    }

    #[inline]
    fn up(&mut self, mut index: usize, key: u128) {
        while index > 0 {
            let parent = (index - 1) / 2;
            if self.heap[parent] <= key {
                break;
            }
            self.put(index, self.heap[parent]);
            index = parent;
        }
        self.put(index, key);
    }

    #[inline]
    fn down(&mut self, mut index: usize, key: u128) {
        loop {
            let mut child = 2 * index + 1;
            if child >= self.heap.len() {
                break;
            }
            child += usize::from(child + 1 < self.heap.len() && self.heap[child + 1] < self.heap[child]);
            if key <= self.heap[child] {
                break;
            }
            self.put(index, self.heap[child]);
            index = child;
        }
        self.put(index, key);
    }
}

impl Queue for IndexedBinaryHeap {
    fn new(entities: usize) -> Self {
        Self { heap: Vec::with_capacity(entities), position: vec![ABSENT; entities] }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let key = key(time, entity);
        let position = self.position[entity as usize];
        if position == ABSENT {
            self.heap.push(key);
            self.up(self.heap.len() - 1, key);
        } else if key < self.heap[position as usize] {
            self.up(position as usize, key);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        parts(self.heap[0])
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        if time != NEVER {
            self.down(0, key(time, entity));
            return;
        }
        self.position[entity as usize] = ABSENT;
        let last = self.heap.pop().expect("the entity is in the heap");
        if !self.heap.is_empty() {
            self.down(0, last);
        }
    }
}

/// [`LinedHeap`] without its memory layout: the root is entry 0, and the children of entry i start at 4·i + 1, so that
/// they usually lie in two cache lines.
pub struct PlainHeap {
    heap: Vec<u128>,
    position: Vec<u32>,
}

impl PlainHeap {
    #[inline]
    fn put(&mut self, index: usize, key: u128) {
        self.heap[index] = key;
        self.position[key as u32 as usize] = index as u32;
    }

    #[inline]
    fn up(&mut self, mut index: usize, key: u128) {
        while index > 0 {
            let parent = (index - 1) / 4;
            if self.heap[parent] <= key {
                break;
            }
            self.put(index, self.heap[parent]);
            index = parent;
        }
        self.put(index, key);
    }

    #[inline]
    fn down(&mut self, mut index: usize, key: u128) {
        loop {
            let first = 4 * index + 1;
            let Some(children) = self.heap.get(first..(first + 4).min(self.heap.len())) else { break };
            let Some((offset, min_key)) = children.iter().copied().enumerate().min_by_key(|child| child.1) else {
                break;
            };
            if key <= min_key {
                break;
            }
            self.put(index, min_key);
            index = first + offset;
        }
        self.put(index, key);
    }
}

impl Queue for PlainHeap {
    fn new(entities: usize) -> Self {
        Self { heap: Vec::with_capacity(entities), position: vec![ABSENT; entities] }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let key = key(time, entity);
        let position = self.position[entity as usize];
        if position == ABSENT {
            self.heap.push(key);
            self.up(self.heap.len() - 1, key);
        } else if key < self.heap[position as usize] {
            self.up(position as usize, key);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        parts(self.heap[0])
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        if time != NEVER {
            self.down(0, key(time, entity));
            return;
        }
        self.position[entity as usize] = ABSENT;
        let last = self.heap.pop().expect("the entity is in the heap");
        if !self.heap.is_empty() {
            self.down(0, last);
        }
    }
}

/// Four siblings in one cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Siblings([u128; 4]);

/// Index of the root. With this one, the children of entry `i` are the four entries that start at `4 (i - 2)`, which
/// fill one cache line.
const ROOT: usize = 3;

/// Key of unused entries, larger than every other key.
const FREE: u128 = u128::MAX;

/// A 4-ary heap that tracks the position of every entity. Siblings share a cache line and are compared without
/// branches.
pub struct LinedHeap {
    lines: Vec<Siblings>,
    /// Index of the first unused entry.
    end: usize,
    position: Vec<u32>,
}

impl LinedHeap {
    #[inline]
    fn at(&self, index: usize) -> u128 {
        self.lines[index / 4].0[index % 4]
    }

    #[inline]
    fn put(&mut self, index: usize, key: u128) {
        self.lines[index / 4].0[index % 4] = key;
        self.position[key as u32 as usize] = index as u32;
    }

    #[inline]
    fn up(&mut self, mut index: usize, key: u128) {
        while index > ROOT {
            let parent = index / 4 + 2;
            let above = self.at(parent);
            if above <= key {
                break;
            }
            self.put(index, above);
            index = parent;
        }
        self.put(index, key);
    }

    #[inline]
    fn down(&mut self, mut index: usize, key: u128) {
        while let Some(Siblings([a, b, c, d])) = self.lines.get(index - 2) {
            let (left, left_at) = if b < a { (b, 1) } else { (a, 0) };
            let (right, right_at) = if d < c { (d, 3) } else { (c, 2) };
            let (min_key, offset) = if right < left { (*right, right_at) } else { (*left, left_at) };
            // The line after the end holds only FREE.
            if key <= min_key {
                break;
            }
            self.put(index, min_key);
            index = 4 * (index - 2) + offset;
        }
        self.put(index, key);
    }
}

impl Queue for LinedHeap {
    fn new(entities: usize) -> Self {
        let lines = vec![Siblings([FREE; 4]); (entities + ROOT).div_ceil(4)];
        Self { lines, end: ROOT, position: vec![ABSENT; entities] }
    }

    #[inline]
    fn arm(&mut self, entity: u32, time: u64) {
        let key = key(time, entity);
        let position = self.position[entity as usize];
        if position == ABSENT {
            self.end += 1;
            self.up(self.end - 1, key);
        } else if key < self.at(position as usize) {
            self.up(position as usize, key);
        }
    }

    #[inline]
    fn next(&mut self) -> (u64, u32) {
        parts(self.at(ROOT))
    }

    #[inline]
    fn settle(&mut self, entity: u32, time: u64) {
        if time != NEVER {
            self.down(ROOT, key(time, entity));
            return;
        }
        self.position[entity as usize] = ABSENT;
        self.end -= 1;
        let last = self.at(self.end);
        self.lines[self.end / 4].0[self.end % 4] = FREE;
        if self.end > ROOT {
            self.down(ROOT, last);
        }
    }
}
