// The gallery: short texts of different kinds, each with a question.
"use strict";

const EXAMPLES = [
  {
    kind: "Fairy tale", title: "The miller’s daughters",
    d: `Once upon a time a miller had three daughters, Greta, Ilse and little Anna. One winter the mill wheel froze, and no flour was left in the house. “I will ask the Frost King to let the wheel go,” said Greta, and she put on her red coat and went into the forest; but when she saw the white wolves she ran home again. Then Ilse went, and she took a lantern, but the wind blew it out, and she ran home too.

Last of all Anna went, with nothing but a piece of bread. The wolves came out between the trees, and Anna gave them the bread, and they lay down at her feet like dogs. “Nobody has ever fed my wolves before,” said the Frost King. “What do you wish?” “Only that our wheel may turn,” said Anna. When she came home the wheel was turning in the sun, and the miller baked the first loaf for the wolves.`,
    q: "The wolves never forgot that ___ had given them her bread.",
  },
  {
    kind: "News", title: "A rescue on the river",
    d: `Two people were rescued from the river Arden on Tuesday after their boat turned over in heavy rain. Maria Keller, a teacher from Holm, was on the way home with her brother Jonas when a wave threw both of them into the water. Jonas Keller swam to the bank and called for help.

The ferryman Paul Brandt heard him, steered his ferry across the current and pulled Maria out with a rope. “She held on to a branch for twenty minutes,” Brandt said. “I only had to throw the rope.” Mayor Helen Voss thanked Brandt in the town hall on Wednesday and promised a new landing stage for Holm before the winter. The police said that neither of the two was badly hurt.`,
    q: "The mayor praised ___, who had pulled Maria out of the river with a rope.",
  },
  {
    kind: "Biography", title: "The clockmaker’s daughter",
    d: `Clara Lindqvist was born in Malmö in 1871, the daughter of a clockmaker. Her father, Erik Lindqvist, wanted her to sell clocks, but Clara wanted to know what made them wrong in summer and right in winter. Her teacher, Professor Hansen, let her use the cellar of his school in Lund, and there she measured for nine years how metal grows when it is warm. In 1899 she married the painter Oskar Berg, who drew all the plates of her book.

The book made her famous in Berlin and in London, where the engineer Thomas Ward built the first bridge by her tables. Clara Lindqvist died in Lund in 1940. Her husband had died long before, and Ward spoke at her grave.`,
    q: "The first bridge by the tables of Clara was built by the engineer ___.",
  },
  {
    kind: "E-mail", title: "The summer party",
    d: `Hi Nora,

thanks for taking over the summer party. Here’s what we know so far. Ben has booked the boat for Friday, the 14th of June, and he needs the number of guests by Monday. Lucia will cook, but she can’t carry everything alone, so Amir has offered his van. Please don’t tell Frank anything: it’s his birthday on that day, and the cake is a surprise.

The music is a problem (as always). Ben wanted to ask his band, but the drummer has broken his arm, so perhaps you could ask Sofia whether she would play the accordion again.

See you on Monday,
Martin`,
    q: "Please ask ___ whether she would play the accordion at the party.",
  },
  {
    kind: "Science", title: "How bees find home",
    d: `Bees find their way home by the sun, but on a grey day they need another sign. Dr. Hanna Weiss and her student Li Chen wanted to know which one. They put two hives in a field, one beside a row of poplars and one in the open, and they marked four hundred bees with dots of paint. On cloudy days most of the bees from the hive beside the poplars came home, while the bees from the open field got lost.

Then Chen had a simple idea: at night the team moved the hives and left the trees where they were. In the morning the bees flew to the poplars first and looked for their hive there. Weiss concluded that bees remember a row of trees as a kind of map. Her colleague Peter Okoro is not convinced. He thinks that the bees smelled the poplars, and he wants to repeat the experiment with trees of cloth.`,
    q: "To find their way home on a grey day, bees remember a row of ___.",
  },
];
